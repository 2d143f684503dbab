import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git, GitCall } from './git.ts';
import { isFile } from './is-file.ts';
import { layRepository } from './repository.ts';

/**
 * A folder seen from a git dir beside it. Objects, HEAD and ignored paths are the folder's own; its configuration, which
 * may name programs (filters, drivers, monitors), is not in force.
 */
export interface Apart {
  /** The git dir; gone when the work is done. */
  readonly gitDir: string;
  /** The folder's own `.git`. */
  readonly own: string;
  /** For a call of git about the folder; the index is to be named by `GIT_INDEX_FILE`. */
  readonly call: Required<Pick<GitCall, 'cwd' | 'env' | 'signal'>>;
}

/** Where git dirs of {@link apart} are made; what a killed process left there may be deleted. */
const apartIn = (git: Pick<Git, 'folder'>): string => join(git.folder, 'apart');

const headOf = async (git: Git, own: string, signal: AbortSignal): Promise<string> =>
  git.line({
    args: ['--git-dir', own, 'rev-parse', '--quiet', '--verify', 'HEAD^{commit}'],
    answers: [0, 1],
    signal,
  });

const copyIfThere = async (from: string, to: string): Promise<void> => {
  if (isFile(from)) await copyFile(from, to);
};

/**
 * Lends a git dir for some work on a folder.
 * @returns null when the folder is no repository that git can use.
 */
export const apart = async <Result>(
  git: Git,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
  work: (apart: Apart) => Promise<Result>,
): Promise<Result | null> => {
  const own = join(folder, '.git');
  const isRepository = { args: ['--git-dir', own, 'rev-parse', '--git-dir'], answers: [0, 128], signal };
  if (!existsSync(own) || (await git.run(isRepository)).exitCode !== 0) return null;
  const gitDir = join(apartIn(git), randomUUID());
  try {
    await layRepository(gitDir, { bare: false, lenders: [{ gitDir: own }] });
    const head = await headOf(git, own, signal);
    if (head !== '') await writeFile(join(gitDir, 'HEAD'), `${head}\n`);
    await copyIfThere(join(own, 'info', 'exclude'), join(gitDir, 'info', 'exclude'));
    return await work({
      gitDir,
      own,
      call: { cwd: folder, env: { GIT_DIR: gitDir, GIT_WORK_TREE: folder }, signal },
    });
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
};
