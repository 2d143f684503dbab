import { z } from 'zod';
import { type Apart, apart } from '../apart.ts';
import { type Git, GitFailure } from '../git.ts';
import { definePrimitive, failed, noRepository, type PrimitiveContext, type PrimitiveResult } from './primitive.ts';

/** As git-check-ref-format(1) has it for `refs/heads/NAME`. */
const isBranchName = (name: string): boolean =>
  !/^-|\.\.|@\{|\/\/|^\/|[/.]$|^@$|[\0-\x20\x7f~^:?*[\\]/.test(name) &&
  name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));

const branchName = z
  .string()
  .max(200)
  .refine(
    (name) => name.isWellFormed() && name !== 'HEAD' && isBranchName(name),
    'is a name that git takes for a branch',
  );

interface Heads {
  /** The branch that HEAD is on; empty when it is on none. */
  readonly on: string;
  /** Commits; empty when there is none yet. */
  readonly head: string;
  readonly branch: string;
}

const own = ({ own: gitDir, call: { signal } }: Apart, args: readonly string[], answers = [0]) => ({
  args: ['--git-dir', gitDir, ...args],
  answers,
  signal,
});

const headsOf = async (git: Git, place: Apart, name: string): Promise<Heads> => {
  const commit = (ref: string) => git.line(own(place, ['rev-parse', '--quiet', '--verify', `${ref}^{commit}`], [0, 1]));
  return {
    on: await git.line(own(place, ['symbolic-ref', '--quiet', 'HEAD'], [0, 1])),
    head: await commit('HEAD'),
    branch: await commit(`refs/heads/${name}`),
  };
};

/** Brings the branch to HEAD without losing a commit of it, then HEAD to the branch; files and index stay as they are. */
const switchTo = async (git: Git, place: Apart, name: string): Promise<PrimitiveResult> => {
  const ref = `refs/heads/${name}`;
  const { on, head, branch } = await headsOf(git, place, name);
  if (on === ref) return done(name, head, 'is checked out already');
  if (branch !== '' && branch !== head) {
    const isPart = own(place, ['merge-base', '--is-ancestor', branch, head === '' ? branch : head], [0, 1]);
    if (head === '' || (await git.run(isPart)).exitCode !== 0) {
      return failed(`${name} exists and has commits that are not checked out`);
    }
  }
  if (head !== '') await git.run(own(place, ['update-ref', '-m', 'branch', ref, head, branch]));
  await git.run(own(place, ['symbolic-ref', '-m', `branch ${name}`, 'HEAD', ref]));
  return done(name, head, branch === '' ? 'is made and checked out' : 'is checked out');
};

const done = (branch: string, commit: string, what: string): PrimitiveResult => ({
  ok: true,
  output: { branch, commit },
  detail: `${branch} ${what}`,
});

const inRepository = async (
  { git, folder, signal }: PrimitiveContext,
  work: (place: Apart) => Promise<PrimitiveResult>,
): Promise<PrimitiveResult> => {
  try {
    return (await apart(git, { folder: folder ?? '', signal }, work)) ?? noRepository;
  } catch (error) {
    if (error instanceof GitFailure) return failed(error.message);
    throw error;
  }
};

const parameters = z.strictObject({ name: branchName.describe('the branch, without `refs/heads/`') });

/** Puts what is checked out on a branch, whatever state the repository is in. */
export const gitBranch = definePrimitive({
  name: 'git-branch',
  description:
    'Puts what is checked out on a branch, which is made when it does not exist; also from a detached HEAD. Files and index stay as they are, and a branch with commits of its own is never moved.',
  effects: true,
  inProcess: false,
  parameters,
  promises: { check: 'git-on-branch', with: ({ name }) => ({ name }) },
  run: (context, { name }) => inRepository(context, (place) => switchTo(context.git, place, name)),
});

/** The check that belongs to {@link gitBranch}. */
export const gitOnBranch = definePrimitive({
  name: 'git-on-branch',
  description: 'Holds when the repository is on a branch.',
  effects: false,
  inProcess: false,
  parameters,
  run: (context, { name }) =>
    inRepository(context, async (place) => {
      const { on } = await headsOf(context.git, place, name);
      const where = on === '' ? 'on no branch' : `on ${on.replace('refs/heads/', '')}`;
      return { ok: on === `refs/heads/${name}`, output: null, detail: `the repository is ${where}` };
    }),
});
