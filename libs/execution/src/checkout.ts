import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Git } from './git.ts';

/** Local branch that a workspace is on: the source's where its ref is one that can be told, else `main`. */
const branchOf = ({ source }: WorkspaceRef): string => {
  const name = (source?.ref ?? 'main').replace(/^refs\/heads\//, '');
  const isPlain = /^[A-Za-z0-9][\w./+-]*$/.test(name) && !/\.\.|\/\/|\.lock(\/|$)|[./]$|\/\./.test(name);
  return isPlain && name !== 'HEAD' && !name.startsWith('refs/') && !/^[0-9a-f]{40}$/.test(name) ? name : 'main';
};

const writeRef = async (gitDir: string, name: string, commit: string): Promise<void> => {
  const path = join(gitDir, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${commit}\n`);
};

/** The index as it was: recorded as the second parent of a snapshot, else what HEAD has. */
const indexTree = async (git: Git, gitDir: string, { head, commit }: WorkspaceRef): Promise<string> => {
  const args = ['--git-dir', gitDir, 'rev-list', '--parents', '--max-count=1', commit];
  const [, , staged] = (await git.line({ args })).split(' ');
  return staged ?? head;
};

/**
 * Fills a folder whose `.git` already reaches all objects: files as in the snapshot, HEAD at the recipe's own commit,
 * what was uncommitted uncommitted again, what was staged staged.
 */
export const checkOut = async (git: Git, folder: string, ref: WorkspaceRef): Promise<void> => {
  const gitDir = join(folder, '.git');
  const branch = branchOf(ref);
  await writeFile(join(gitDir, 'HEAD'), `ref: refs/heads/${branch}\n`);
  await writeRef(gitDir, `refs/heads/${branch}`, ref.head);
  // So that a diff against where the work began can be asked for by name.
  if (ref.source !== null) await writeRef(gitDir, `refs/remotes/origin/${branch}`, ref.base);
  await git.run({ args: ['read-tree', '--reset', '-u', ref.commit], cwd: folder });
  if (ref.head === ref.commit) return;
  await git.run({ args: ['read-tree', '-m', await indexTree(git, gitDir, ref)], cwd: folder });
};
