import type { GitSource } from '@fixpoint/contracts/workspace';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { WorkspaceFault } from '@fixpoint/execution/workspace-fault';
import type { Workspaces } from '@fixpoint/execution/workspaces';
import { sha1, treeId, treeLanding } from './tree-landing.ts';
import { patchBetween, type ReadonlyTree } from './tree-patch.ts';

/** Content by path. */
type Tree = Map<string, string>;

/** Workspaces without a disk: a tree is a map, and its id is the hash of its content, as with git. */
export interface FileTrees extends Workspaces {
  /** The tree in a folder, to be changed in place; undefined when there is no such folder. */
  folder(path: string): Tree | undefined;
  /** Whoever asks the source at `url` next is told so often that the network is down. */
  cutOff(url: string, times: number): void;
  /** Commit of a branch that something was delivered to; undefined when nothing was. */
  branch(url: string, name: string): string | undefined;
}

export const fileTrees = (artifacts: Artifacts): FileTrees => {
  const folders = new Map<string, Tree>();
  const commits = new Map<string, ReadonlyMap<string, string>>();
  const outages = new Map<string, number>();

  const commit = (tree: ReadonlyMap<string, string>, parent: string): string => {
    const id = sha1(`${parent} ${treeId(tree)}`);
    commits.set(id, new Map(tree));
    return id;
  };
  const treeAt = (id: string): ReadonlyMap<string, string> => {
    const tree = commits.get(id);
    if (tree === undefined) throw new WorkspaceFault('workspace', 'ref_unknown', { detail: id });
    return tree;
  };
  const reach = (source: GitSource): void => {
    const left = outages.get(source.url) ?? 0;
    outages.set(source.url, left - 1);
    if (left > 0) throw new WorkspaceFault('network', 'source_unreachable', { detail: source.url });
  };

  return {
    folder: (path) => folders.get(path),
    cutOff: (url, times) => void outages.set(url, times),
    resolve: async (source) => {
      if (source !== null) reach(source);
      const tree: Tree = new Map(source === null ? [] : [['README', `${source.url} ${source.ref}\n`]]);
      const base = commit(tree, '');
      return { source, base, head: base, commit: base, tree: treeId(tree), bundle: null };
    },
    materialise: async (ref, folder) => void folders.set(folder, new Map(treeAt(ref.commit))),
    capture: async (folder, ref) => {
      const tree = folders.get(folder);
      if (tree === undefined) throw new WorkspaceFault('workspace', 'folder_missing', { detail: folder });
      const unchanged = treeId(tree) === treeId(treeAt(ref.head));
      return { ...ref, commit: unchanged ? ref.head : commit(tree, ref.head), tree: treeId(tree) };
    },
    diff: async (from, to) => diffOf(artifacts, treeAt(from.commit), treeAt(to.commit)),
    ...treeLanding({ treeAt, commit, reach }),
    // No worker asks for files in a simulated world.
    archive: async () => null,
    export: async (ref, folder) => void folders.set(folder, new Map(treeAt(ref.commit))),
    borrowed: async () => [],
    remove: async (folder) => void folders.delete(folder),
  };
};

const diffOf = async (artifacts: Artifacts, before: ReadonlyTree, after: ReadonlyTree) => {
  const { files, text } = patchBetween(before, after);
  return { patch: files.length === 0 ? null : await artifacts.put(Buffer.from(text)), files };
};
