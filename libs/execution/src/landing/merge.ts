import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { type Git, stoppable } from '../git.ts';
import { assertRefName, bundled, inScratch, type Parts } from '../scratch.ts';
import { snapshotCommit } from '../snapshot.ts';
import type { Merged, MergeRequest } from '../workspaces.ts';
import { isKept, pathsIn } from './kept-paths.ts';
import type { PathBytes } from './merge-entry.ts';
import { repeatableCommit } from './repeatable-commit.ts';
import { type MergedTree, mergeTrees } from './tree-merge.ts';

/** Merges two workspaces in a repository of its own: first what was committed, then what was not. */
export const merge = async (parts: Parts, request: MergeRequest): Promise<Merged> => {
  assertRefName(request.refName);
  const { ours, theirs, base } = request;
  const stopped = { ...parts, git: stoppable(parts.git, request.signal) };
  const refs = base === null ? [ours, theirs] : [ours, theirs, base];
  return inScratch(stopped, { refs, lenders: [], unbundled: true }, async (gitDir) => {
    const { git } = stopped;
    const start = await startOf(git, gitDir, request);
    const head = await mergedHead(git, gitDir, { request, start });
    const whole = { base: start.commit, ours: ours.commit, theirs: theirs.commit };
    const { tree, clashed } = isClean(ours) && isClean(theirs) ? head : await mergeTrees(git, gitDir, whole);
    const commit =
      tree === head.tree ? head.commit : await snapshotCommit(git, gitDir, { tree, parents: [head.commit] });
    const ref = await refOf(stopped, gitDir, { request, made: { head: head.commit, commit, tree } });
    return { ref, conflicts: await conflictsOf(git, gitDir, { request, clashed }) };
  });
};

const isClean = ({ head, commit }: WorkspaceRef): boolean => head === commit;

/** What both sides grew out of: the commit, and what of it was in the folder. */
interface Start {
  readonly head: string;
  readonly commit: string;
}

/**
 * The newest commit that both histories hold is better than an older one that was named: what both had by then clashes no
 * more. What nobody has committed is in no history; so a start with such stands as it was named.
 */
const startOf = async (git: Git, gitDir: string, { ours, theirs, base }: MergeRequest): Promise<Start> => {
  if (base !== null && !isClean(base)) return base;
  const common = await commonCommit(git, gitDir, [ours.head, theirs.head]);
  if (common === null) return base ?? { head: ours.base, commit: ours.base };
  const isNewer = base === null || (await isAncestor(git, gitDir, [base.head, common]));
  return isNewer ? { head: common, commit: common } : base;
};

/** Null for histories that have nothing in common. Of several, git names one, and always the same. */
const commonCommit = async (git: Git, gitDir: string, heads: readonly string[]): Promise<string | null> => {
  const { exitCode, stdout } = await git.run({ args: ['--git-dir', gitDir, 'merge-base', ...heads], answers: [0, 1] });
  return exitCode === 0 ? (stdout.toString('utf8').split('\n', 1)[0] ?? null) : null;
};

const isAncestor = async (git: Git, gitDir: string, [older, newer]: readonly [string, string]): Promise<boolean> => {
  const args = ['--git-dir', gitDir, 'merge-base', '--is-ancestor', older, newer];
  return (await git.run({ args, answers: [0, 1] })).exitCode === 0;
};

interface Heads {
  readonly request: MergeRequest;
  readonly start: Start;
}

/** A side that holds the other's history is the merge of both; else a commit joins them. */
const mergedHead = async (
  git: Git,
  gitDir: string,
  { request, start }: Heads,
): Promise<MergedTree & { readonly commit: string }> => {
  const [ours, theirs] = [request.ours.head, request.theirs.head];
  const treeAt = (commit: string) => git.line({ args: ['--git-dir', gitDir, 'rev-parse', `${commit}^{tree}`] });
  if (await isAncestor(git, gitDir, [theirs, ours])) return { commit: ours, tree: await treeAt(ours), clashed: [] };
  if (await isAncestor(git, gitDir, [ours, theirs])) return { commit: theirs, tree: await treeAt(theirs), clashed: [] };
  const merged = await mergeTrees(git, gitDir, { base: start.head, ours, theirs });
  const commit = { tree: merged.tree, parents: [ours, theirs], message: request.message };
  return { ...merged, commit: await repeatableCommit(git, gitDir, commit) };
};

interface Made {
  readonly request: MergeRequest;
  readonly made: Pick<WorkspaceRef, 'head' | 'commit' | 'tree'>;
}

const refOf = async (parts: Parts, gitDir: string, { request, made }: Made): Promise<WorkspaceRef> => {
  const { ours, theirs, refName } = request;
  const isSame = (side: WorkspaceRef) =>
    side.base === ours.base && side.commit === made.commit && side.head === made.head;
  if (isSame(ours)) return ours;
  if (isSame(theirs)) return theirs;
  return { ...ours, ...made, bundle: await bundled(parts, gitDir, { commit: made.commit, base: ours.base, refName }) };
};

interface Clashed {
  readonly request: MergeRequest;
  readonly clashed: readonly PathBytes[];
}

/** Two caches may differ: what neither side tracks is ours, and the check of the merged workspace has the word on it. */
const conflictsOf = async (git: Git, gitDir: string, { request, clashed }: Clashed): Promise<string[]> => {
  const { ours, theirs, keep } = request;
  const kept = clashed.filter((path) => isKept(path, keep));
  const tracked = kept.length === 0 ? [] : [ours.head, theirs.head].map((head) => pathsIn(git, gitDir, head));
  const known = await Promise.all(tracked);
  return clashed
    .filter((path) => !isKept(path, keep) || known.some((paths) => paths.has(path)))
    .map((path) => Buffer.from(path, 'latin1').toString('utf8'))
    .sort();
};
