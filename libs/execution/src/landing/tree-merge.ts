import { join } from 'node:path';
import type { Git } from '../git.ts';
import { type Clash, clashesIn, fieldsOf, type PathBytes } from './merge-entry.ts';
import { ourSide, type Settled } from './our-side.ts';
import { renameMerge, type ThreeTrees } from './rename-merge.ts';

export interface MergedTree {
  readonly tree: string;
  /** Paths where our side won over something of theirs. */
  readonly clashed: readonly PathBytes[];
}

/**
 * Merges trees (or commits, by their trees) in a repository that reaches them; nothing outside it is touched, and nothing
 * that the trees say is run. Renames are followed, unless they are part of a clash: then each path is taken for itself.
 */
export const mergeTrees = async (git: Git, gitDir: string, trees: ThreeTrees): Promise<MergedTree> => {
  const { base, ours, theirs } = await treesOf(git, gitDir, trees);
  if (theirs === base || theirs === ours) return { tree: ours, clashed: [] };
  if (ours === base) return { tree: theirs, clashed: [] };
  const merged = await renameMerge(git, gitDir, { base, ours, theirs });
  if (merged.clashes.length === 0 && merged.isPlain) return { tree: merged.tree, clashed: [] };
  if (!merged.isPlain) return pathMerge(git, gitDir, { base, ours, theirs });
  const index = indexIn(gitDir, 'rename-merge');
  await git.run({ args: ['--git-dir', gitDir, 'read-tree', merged.tree], env: index });
  const settled: Settled[] = [];
  for (const clash of merged.clashes) {
    settled.push(await ourSide(git, gitDir, { clash, whole: merged.whole.has(clash.path) }));
  }
  return resultOf(git, gitDir, { index, settled });
};

const treesOf = async (git: Git, gitDir: string, trees: ThreeTrees): Promise<ThreeTrees> => {
  const treeOf = (id: string) => git.line({ args: ['--git-dir', gitDir, 'rev-parse', `${id}^{tree}`] });
  return { base: await treeOf(trees.base), ours: await treeOf(trees.ours), theirs: await treeOf(trees.theirs) };
};

type Index = Readonly<Record<string, string>>;

const indexIn = (gitDir: string, name: string): Index => ({ GIT_INDEX_FILE: join(gitDir, `${name}-index`) });

/** Without renames: what a path is on each side decides about this path and no other. */
const pathMerge = async (git: Git, gitDir: string, { base, ours, theirs }: ThreeTrees): Promise<MergedTree> => {
  const index = indexIn(gitDir, 'path-merge');
  const call = { env: index };
  await git.run({ ...call, args: ['--git-dir', gitDir, 'read-tree', '--empty'] });
  await git.run({ ...call, args: ['--git-dir', gitDir, 'read-tree', '-i', '-m', '--aggressive', base, ours, theirs] });
  const { stdout } = await git.run({ ...call, args: ['--git-dir', gitDir, 'ls-files', '-u', '-z'] });
  const clashes = clashesIn(fieldsOf(stdout));
  const settled: Settled[] = [];
  for (const clash of clashes) settled.push(await settledAlone(git, gitDir, { clash, clashes }));
  return resultOf(git, gitDir, { index, settled });
};

interface InQuestion {
  readonly clash: Clash;
  /** All of this merge. */
  readonly clashes: readonly Clash[];
}

/** What they alone have added is in question only where one side has a file and the other a folder of the same name. */
const settledAlone = async (git: Git, gitDir: string, { clash, clashes }: InQuestion): Promise<Settled> => {
  const { path, base, ours, theirs } = clash;
  if (base !== null || ours !== null) return ourSide(git, gitDir, { clash, whole: false });
  const isInTheWay = clashes.some((other) => other.ours !== null && collides(other.path, path));
  return { path, version: isInTheWay ? null : theirs, isLoss: isInTheWay };
};

const collides = (one: PathBytes, other: PathBytes): boolean =>
  one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

interface Outcome {
  readonly index: Index;
  readonly settled: readonly Settled[];
}

const resultOf = async (git: Git, gitDir: string, outcome: Outcome): Promise<MergedTree> => ({
  tree: await withSettled(git, gitDir, outcome),
  clashed: outcome.settled.filter(({ isLoss }) => isLoss).map(({ path }) => path),
});

const NOTHING = '0'.repeat(40);

/** First all paths in question go, so that files may come where folders were. */
const withSettled = async (git: Git, gitDir: string, { index, settled }: Outcome): Promise<string> => {
  const gone = settled.map(({ path }) => `0 ${NOTHING}\t${path}\0`);
  const come = settled.flatMap(({ path, version }) =>
    version === null ? [] : [`${version.mode} ${version.blob}\t${path}\0`],
  );
  const stdin = Buffer.from([...gone, ...come].join(''), 'latin1');
  await git.run({ args: ['--git-dir', gitDir, 'update-index', '-z', '--index-info'], env: index, stdin });
  return git.line({ args: ['--git-dir', gitDir, 'write-tree'], env: index });
};
