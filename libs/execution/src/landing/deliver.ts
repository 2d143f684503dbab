import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { type Git, stoppable } from '../git.ts';
import { inScratch, type Parts } from '../scratch.ts';
import { assertUsable } from '../source.ts';
import type { Delivered, Delivery } from '../workspaces.ts';
import { isKept, pathsIn } from './kept-paths.ts';
import { pushTo, tipOf } from './push.ts';
import { repeatableCommit } from './repeatable-commit.ts';

/** Brings a workspace to a branch. What the branch has now is asked before and after: nobody's word but the repository's counts. */
export const deliver = async (parts: Parts, ref: WorkspaceRef, delivery: Delivery): Promise<Delivered> => {
  const { url, branch, signal } = delivery;
  assertUsable({ url, ref: branch });
  const stopped = { ...parts, git: stoppable(parts.git, signal) };
  return inScratch(stopped, { refs: [ref], lenders: [], unbundled: true }, async (gitDir) => {
    const commit = await deliverable(stopped.git, gitDir, { ref, delivery });
    const target = { url, branch, commit };
    if ((await tipOf(stopped.git, target)) === commit) return { outcome: 'delivered', commit, already: true };
    return pushTo(stopped.git, gitDir, target);
  });
};

interface Result {
  readonly ref: WorkspaceRef;
  readonly delivery: Delivery;
}

/** What was committed, and on top of it one commit with what was not; what only the task keeps is nobody else's. */
const deliverable = async (git: Git, gitDir: string, { ref, delivery }: Result): Promise<string> => {
  if (ref.commit === ref.head) return ref.head;
  const committed = await pathsIn(git, gitDir, ref.head);
  const left = [...(await pathsIn(git, gitDir, ref.commit))].filter(
    (path) => isKept(path, delivery.keep) && !committed.has(path),
  );
  const env = { GIT_INDEX_FILE: join(gitDir, 'delivered-index') };
  await git.run({ args: ['--git-dir', gitDir, 'read-tree', ref.commit], env });
  const stdin = Buffer.from(left.map((path) => `0 ${'0'.repeat(40)}\t${path}\0`).join(''), 'latin1');
  await git.run({ args: ['--git-dir', gitDir, 'update-index', '-z', '--index-info'], env, stdin });
  const tree = await git.line({ args: ['--git-dir', gitDir, 'write-tree'], env });
  const before = await git.line({ args: ['--git-dir', gitDir, 'rev-parse', `${ref.head}^{tree}`] });
  if (tree === before) return ref.head;
  return repeatableCommit(git, gitDir, { tree, parents: [ref.head], message: delivery.message });
};
