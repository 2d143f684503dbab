import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Apart, apart } from '../apart.ts';
import type { Git } from '../git.ts';
import { isFile } from '../is-file.ts';
import { allBut, exclusion } from './exclusion.ts';
import { definePrimitive, noRepository } from './primitive.ts';

const shownPaths = 20;

/** Paths of `git status --porcelain -z` without renames: two letters, a space, the path. */
const pathsOf = (status: string): string[] =>
  status
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => entry.slice(3));

/**
 * What is staged, as an index that knows nothing of the files: each is read anew, whatever the folder's own index says
 * about it. A merge in conflict is no tree and stays as it is.
 */
const stagedIndex = async (git: Git, { gitDir, own, call }: Apart): Promise<string> => {
  const index = join(gitDir, 'index');
  if (!isFile(join(own, 'index'))) return index;
  const copy = join(gitDir, 'copied-index');
  await copyFile(join(own, 'index'), copy);
  const staged = { ...call, args: ['write-tree'], env: { ...call.env, GIT_INDEX_FILE: copy }, answers: [0, 128] };
  const { exitCode, stdout } = await git.run(staged);
  if (exitCode !== 0) return copy;
  const tree = stdout.toString('utf8').trim();
  await git.run({ ...call, args: ['read-tree', tree], env: { ...call.env, GIT_INDEX_FILE: index } });
  return index;
};

const STATUS = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=dirty'];

/** Null when git can not tell. */
const uncommitted = async (git: Git, place: Apart, exclude: readonly string[]): Promise<string[] | null> => {
  const env = { ...place.call.env, GIT_INDEX_FILE: await stagedIndex(git, place) };
  const status = { ...place.call, args: [...STATUS, '--', ...allBut(exclude)], env, answers: [0, 128] };
  const { exitCode, stdout } = await git.run(status);
  return exitCode === 0 ? pathsOf(stdout.toString('utf8')) : null;
};

/** The working tree has nothing uncommitted. */
export const gitClean = definePrimitive({
  name: 'git-clean',
  description: 'Holds when nothing in the workspace is uncommitted, ignored and excluded paths aside.',
  effects: false,
  inProcess: false,
  parameters: z.strictObject({
    exclude: z.array(exclusion).default([]).describe('paths that may be uncommitted'),
  }),
  run: async ({ folder, git, signal }, { exclude }) => {
    const paths = await apart(git, { folder: folder ?? '', signal }, (place) => uncommitted(git, place, exclude));
    if (paths === null) return noRepository;
    const detail =
      paths.length === 0 ? 'nothing is uncommitted' : `${paths.length} uncommitted: ${paths.slice(0, 3).join(', ')}`;
    return { ok: paths.length === 0, output: { uncommitted: paths.slice(0, shownPaths), count: paths.length }, detail };
  },
});
