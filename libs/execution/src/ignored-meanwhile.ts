import { lstat, realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import type { Git, GitCall } from './git.ts';

/** Exit code of git for an object that it does not have. */
const UNKNOWN = 128;

/**
 * Files that a workspace held when it was handed out, that are still there, and that the index of its snapshot lacks:
 * git has been told to ignore them since. What is tracked stays tracked for all that, and so does what was never
 * committed: it may be the work of others.
 * @param held the commit that the folder was filled from.
 * @returns paths relative to the folder, bytes as latin1.
 */
export const ignoredMeanwhile = async (
  git: Git,
  call: Pick<GitCall, 'env'> & { readonly cwd: string },
  held: string,
): Promise<string[]> => {
  const args = ['diff-index', '--cached', '--no-renames', '--diff-filter=D', '--name-only', '-z', held];
  const { exitCode, stdout } = await git.run({ ...call, args, answers: [0, UNKNOWN] });
  if (exitCode === UNKNOWN) return [];
  const paths = stdout
    .toString('latin1')
    .split('\0')
    .filter((path) => path !== '');
  const top = Buffer.from(await realpath(call.cwd)).toString('latin1');
  const there = await Promise.all(paths.map((path) => isBelow(top, path)));
  return paths.filter((_, index) => there[index]);
};

/** A file or link at this very place: none that a link on the way leads to. */
const isBelow = async (top: string, path: string): Promise<boolean> => {
  const folder = posix.dirname(posix.join(top, path));
  try {
    const real = await realpath(Buffer.from(folder, 'latin1'), { encoding: 'buffer' });
    const found = await lstat(Buffer.from(posix.join(top, path), 'latin1'));
    return real.toString('latin1') === folder && (found.isFile() || found.isSymbolicLink());
  } catch {
    return false;
  }
};
