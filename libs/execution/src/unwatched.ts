import type { Git, GitCall } from './git.ts';

/**
 * Tracked files that the index tells git not to look at (`assume-unchanged`, `skip-worktree`): what becomes of them shows
 * in no status, diff or commit.
 * @param pathspecs all files by default.
 * @returns names byte by byte, as latin1.
 */
export const unwatched = async (
  git: Git,
  call: Pick<GitCall, 'cwd' | 'env' | 'signal'>,
  pathspecs: readonly string[] = [],
): Promise<string[]> => {
  const { stdout } = await git.run({ ...call, args: ['ls-files', '-v', '-z', '--', ...pathspecs] });
  const entries = stdout.toString('latin1').split('\0');
  // A letter, a space, the name: in lower case when assumed unchanged, S when not in the folder on purpose.
  return entries.filter((entry) => /^[a-zS] /.test(entry)).map((entry) => entry.slice(2));
};
