import type { Git } from '../git.ts';

export interface RepeatableCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
}

/** A commit at the time of its youngest parent: made again, it is the same commit. */
export const repeatableCommit = async (
  git: Git,
  gitDir: string,
  { tree, parents, message }: RepeatableCommit,
): Promise<string> => {
  const { stdout } = await git.run({ args: ['--git-dir', gitDir, 'show', '-s', '--format=%ct', ...parents] });
  const seconds = Math.max(...stdout.toString('utf8').trim().split('\n').map(Number));
  const time = `${seconds} +0000`;
  const args = ['--git-dir', gitDir, 'commit-tree', '-m', message, ...parents.flatMap((id) => ['-p', id]), tree];
  return git.line({ args, env: { GIT_AUTHOR_DATE: time, GIT_COMMITTER_DATE: time } });
};
