import { existsSync } from 'node:fs';
import { copyFile, lstat, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { keptPathSchema, type WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Git, GitCall } from './git.ts';
import { ignoredMeanwhile } from './ignored-meanwhile.ts';
import { isFile } from './is-file.ts';
import { fixedTimes } from './mirrors.ts';
import { unwatched } from './unwatched.ts';
import { WorkspaceFault } from './workspace-fault.ts';

/** A repository beside the folder that borrows the folder's objects: nothing the recipe configured is in force in it. */
export interface SnapshotPlace {
  readonly folder: string;
  readonly gitDir: string;
}

type Snapshot = Pick<WorkspaceRef, 'head' | 'commit' | 'tree'>;

/** For a look at a few small files, which the recipe may have made into anything. */
const HEAD_MS = 20_000;

interface Head {
  readonly head: string;
  readonly tree: string;
}

/** Where HEAD is; where it was before when the recipe left no usable repository. */
const headOf = async (git: Git, place: SnapshotPlace, before: string): Promise<Head> => {
  const own = join(place.folder, '.git');
  const args = ['--git-dir', own, 'rev-parse', '--quiet', '--verify', 'HEAD^{commit}'];
  const signal = AbortSignal.timeout(HEAD_MS);
  const head = existsSync(own) ? await git.line({ args, signal }).catch(() => before) : before;
  const tree = await treeOf(git, place, head);
  if (tree !== null) return { head, tree };
  return {
    head: before,
    tree: await git.line({ args: ['--git-dir', place.gitDir, 'rev-parse', `${before}^{tree}`] }),
  };
};

/** Null when the commit or its tree is not there. */
const treeOf = async (git: Git, { gitDir }: SnapshotPlace, commit: string): Promise<string | null> => {
  const args = ['--git-dir', gitDir, 'cat-file', '--batch-check'];
  const answer = await git.line({ args, stdin: `${commit}^{tree}\n` });
  return /^([0-9a-f]+) tree \d+$/.exec(answer)?.[1] ?? null;
};

/** A copy of the folder's index, which knows which files are unchanged; null when there is none. */
const copiedIndex = async ({ folder, gitDir }: SnapshotPlace, name: string): Promise<string | null> => {
  const own = join(folder, '.git', 'index');
  if (!isFile(own)) return null;
  const copy = join(gitDir, name);
  await copyFile(own, copy);
  // Git looks again at files as young as their index; a copy must not make the index look younger than it is.
  const before = Math.floor((await stat(own)).mtimeMs / 1000);
  await utimes(copy, before, before);
  return copy;
};

/** Null for an index that is no tree: a merge in conflict. */
const stagedTree = async (git: Git, place: SnapshotPlace): Promise<string | null> => {
  const index = await copiedIndex(place, 'staged-index');
  if (index === null) return null;
  const call = { args: ['--git-dir', place.gitDir, 'write-tree'], env: { GIT_INDEX_FILE: index }, answers: [0, 128] };
  const { exitCode, stdout } = await git.run(call);
  return exitCode === 0 ? stdout.toString('utf8').trim() : null;
};

/** `keep` paths that exist; one that leaves the folder is a mistake in the document and refused there, so here it faults. */
const kept = async (folder: string, keep: readonly string[]): Promise<string[]> => {
  const there: string[] = [];
  for (const path of keep) {
    if (!keptPathSchema.safeParse(path).success)
      throw new WorkspaceFault('workspace', 'keep_invalid', { detail: path });
    if ((await lstat(join(folder, path)).catch(() => null)) !== null) there.push(`:(top,literal)${path}`);
  }
  return there;
};

/** Untracked files that are not ignored, relative to a folder; a repository inside it as one name with a slash at its end. */
const untracked = async (git: Git, { folder, gitDir }: SnapshotPlace, index: string): Promise<string[]> => {
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: folder, GIT_INDEX_FILE: index };
  const { stdout } = await git.run({ args: ['ls-files', '-z', '--others', '--exclude-standard'], cwd: folder, env });
  return stdout.toString('latin1').split('\0');
};

/** As bytes, whatever git is told to ignore. */
const addPaths = async (git: Git, call: Pick<GitCall, 'cwd' | 'env'>, paths: readonly string[]): Promise<void> => {
  if (paths.length === 0) return;
  const stdin = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  await git.run({ ...call, args: ['update-index', '--add', '-z', '--stdin'], stdin });
};

/**
 * The files of repositories that a recipe made inside the folder. `git add` would note only the commit they are at,
 * and refuse those without one; here they are files like any other, only their own history is not kept.
 */
const addNested = async (git: Git, place: SnapshotPlace, index: string): Promise<void> => {
  const nested = (await untracked(git, place, index)).filter((path) => path.endsWith('/'));
  for (let path = nested.pop(); path !== undefined; path = nested.pop()) {
    const below = path;
    const inside = { folder: Buffer.from(join(place.folder, path), 'latin1').toString('utf8'), gitDir: place.gitDir };
    const found = await untracked(git, inside, join(place.gitDir, 'no-index'));
    const paths = found.filter((name) => name !== '').map((name) => `${below}${name}`);
    nested.push(...paths.filter((name) => name.endsWith('/')));
    const files = paths.filter((name) => !name.endsWith('/'));
    const env = { GIT_INDEX_FILE: index, GIT_DIR: place.gitDir, GIT_WORK_TREE: place.folder };
    await addPaths(git, { cwd: place.folder, env }, files);
  }
};

/** What a recipe told git not to look at is looked at: a snapshot is of the files as they are. */
const lookAtAll = async (git: Git, call: Pick<GitCall, 'cwd' | 'env'>): Promise<void> => {
  const paths = await unwatched(git, call);
  if (paths.length === 0) return;
  const stdin = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  for (const flag of ['--no-assume-unchanged', '--no-skip-worktree']) {
    await git.run({ ...call, args: ['update-index', flag, '-z', '--stdin'], stdin });
  }
};

/**
 * Everything in the folder: tracked, untracked but not ignored, and, even though it is ignored, what was there before
 * and what is to be kept.
 */
const folderTree = async (
  git: Git,
  place: SnapshotPlace,
  { head, held, keep }: { head: string; held: string; keep: readonly string[] },
) => {
  const excludes = join(place.folder, '.git', 'info', 'exclude');
  if (isFile(excludes)) await copyFile(excludes, join(place.gitDir, 'info', 'exclude'));
  const copy = await copiedIndex(place, 'folder-index');
  const index = copy ?? join(place.gitDir, 'folder-index');
  const call = {
    cwd: place.folder,
    env: { GIT_INDEX_FILE: index, GIT_DIR: place.gitDir, GIT_WORK_TREE: place.folder },
  };
  if (copy === null) await git.run({ ...call, args: ['read-tree', head] });
  else await lookAtAll(git, call);
  await addNested(git, place, index);
  await git.run({ ...call, args: ['add', '--all', '--', '.'] });
  if (held !== head) await addPaths(git, call, await ignoredMeanwhile(git, call, held));
  const paths = await kept(place.folder, keep);
  if (paths.length > 0) await git.run({ ...call, args: ['add', '--all', '--force', '--', ...paths] });
  return git.line({ ...call, args: ['write-tree'] });
};

/** The same content is the same commit. */
export const snapshotCommit = (
  git: Git,
  gitDir: string,
  { tree, parents }: { tree: string; parents: readonly string[] },
) =>
  git.line({
    args: ['--git-dir', gitDir, 'commit-tree', '-m', 'Snapshot', ...parents.flatMap((id) => ['-p', id]), tree],
    env: fixedTimes,
  });

/**
 * Commits what is in a folder without touching it. A clean folder is its own HEAD; else a commit on top of HEAD holds
 * all files, its second parent the index when something was staged. The same content gives the same commit.
 */
export const snapshotOf = async (
  git: Git,
  place: SnapshotPlace,
  { before, keep }: { before: Pick<WorkspaceRef, 'head' | 'commit'>; keep: readonly string[] },
): Promise<Snapshot> => {
  const { gitDir } = place;
  const { head, tree: headTree } = await headOf(git, place, before.head);
  const staged = (await stagedTree(git, place)) ?? headTree;
  const tree = await folderTree(git, place, { head, held: before.commit, keep });
  if (tree === headTree && staged === headTree) return { head, commit: head, tree };
  const index = staged === headTree ? [] : [await snapshotCommit(git, gitDir, { tree: staged, parents: [head] })];
  return { head, commit: await snapshotCommit(git, gitDir, { tree, parents: [head, ...index] }), tree };
};
