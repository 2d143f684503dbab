import { createHash } from 'node:crypto';
import type { GitSource } from '@fixpoint/contracts/workspace';
import type { Workspaces } from '@fixpoint/execution/workspaces';
import { patchBetween, type ReadonlyTree } from './tree-patch.ts';

export const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');
export const treeId = (tree: ReadonlyTree): string => sha1(JSON.stringify([...tree].sort()));

interface Trees {
  treeAt(commit: string): ReadonlyTree;
  commit(tree: ReadonlyTree, parent: string): string;
  /** @throws {WorkspaceFault} while the network to a source is down. */
  reach(source: GitSource): void;
}

/** Merging, comparing and delivering of trees without a disk; branches are never refused. */
export const treeLanding = ({ treeAt, commit, reach }: Trees) => {
  const branches = new Map<string, string>();
  return {
    /** Commit of a branch that something was delivered to; undefined when nothing was. */
    branch: (url: string, name: string) => branches.get(`${url} ${name}`),
    diffText: async (from, to, mostBytes) => {
      const { files, text } = patchBetween(treeAt(from.commit), treeAt(to.commit));
      return { files, text: text.slice(0, mostBytes), isCut: text.length > mostBytes };
    },
    merge: async ({ ours, theirs, base }) => {
      const start = treeAt(base?.commit ?? ours.base);
      const { tree, conflicts } = mergedTree(start, treeAt(ours.commit), treeAt(theirs.commit));
      const same = [ours, theirs].find((side) => side.tree === treeId(tree));
      const head = same?.commit ?? commit(tree, `${ours.commit} ${theirs.commit}`);
      return { ref: { ...ours, head, commit: head, tree: treeId(tree) }, conflicts };
    },
    deliver: async (ref, { url, branch }) => {
      reach({ url, ref: branch });
      const already = branches.get(`${url} ${branch}`) === ref.commit;
      branches.set(`${url} ${branch}`, ref.commit);
      return { outcome: 'delivered', commit: ref.commit, already };
    },
  } satisfies Pick<Workspaces, 'diffText' | 'merge' | 'deliver'> & {
    branch(url: string, name: string): string | undefined;
  };
};

/** File by file; ours where both sides changed one. */
const mergedTree = (base: ReadonlyTree, ours: ReadonlyTree, theirs: ReadonlyTree) => {
  const tree = new Map(ours);
  const conflicts: string[] = [];
  for (const path of new Set([...base.keys(), ...theirs.keys()])) {
    const [was, here, there] = [base.get(path), ours.get(path), theirs.get(path)];
    if (there === was || there === here) continue;
    if (here !== was) conflicts.push(path);
    else if (there === undefined) tree.delete(path);
    else tree.set(path, there);
  }
  return { tree, conflicts: conflicts.sort() };
};
