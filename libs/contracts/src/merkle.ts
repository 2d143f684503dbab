import { hash } from 'node:crypto';

/** Way from one leaf to the root, RFC 6962 section 2.1.1: where the leaf is, and the hashes beside it from below. */
export interface InclusionProof {
  /** 0-based. */
  readonly index: number;
  /** Leaves of the tree, at least 1. */
  readonly size: number;
  /** base64url of 32 bytes each. */
  readonly hashes: readonly string[];
}

export interface MerkleTree {
  /** base64url of 32 bytes. */
  readonly root: string;
  /** One per leaf, in order. */
  readonly proofs: readonly InclusionProof[];
}

/** Leaves and nodes are hashed apart, so neither can be passed off as the other. */
const leafHash = (text: string): string => hash('sha256', `\0${text}`, 'base64url');

const nodeHash = (left: string, right: string): string =>
  hash(
    'sha256',
    Buffer.concat([Buffer.of(1), Buffer.from(left, 'base64url'), Buffer.from(right, 'base64url')]),
    'base64url',
  );

/**
 * Hash tree over texts, as RFC 6962 builds it: one signature of its root covers them all.
 * @param leaves at least one.
 */
export const merkleTree = (leaves: readonly string[]): MerkleTree => {
  if (leaves.length === 0) throw new RangeError('a hash tree needs a leaf');
  const { root, paths } = build(leaves.map(leafHash));
  return { root, proofs: paths.map((hashes, index) => ({ index, size: leaves.length, hashes })) };
};

const build = (hashes: readonly string[]): { readonly root: string; readonly paths: readonly string[][] } => {
  const [only] = hashes;
  if (hashes.length === 1 && only !== undefined) return { root: only, paths: [[]] };
  const split = splitOf(hashes.length);
  const [left, right] = [build(hashes.slice(0, split)), build(hashes.slice(split))];
  const paths = [
    ...left.paths.map((path) => [...path, right.root]),
    ...right.paths.map((path) => [...path, left.root]),
  ];
  return { root: nodeHash(left.root, right.root), paths };
};

/** The largest power of two below the number of leaves. */
const splitOf = (size: number): number => 2 ** (Math.ceil(Math.log2(size)) - 1);

/** Root of the tree that holds the text where the proof says, or null when the proof is none. */
export const rootOf = (text: string, { index, size, hashes }: InclusionProof): string | null => {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return null;
  return climb(leafHash(text), { index, size, hashes });
};

const climb = (leaf: string, { index, size, hashes }: InclusionProof): string | null => {
  if (size === 1) return hashes.length === 0 ? leaf : null;
  const beside = hashes.at(-1);
  if (beside === undefined) return null;
  const split = splitOf(size);
  const rest = hashes.slice(0, -1);
  const isLeft = index < split;
  const below = isLeft
    ? climb(leaf, { index, size: split, hashes: rest })
    : climb(leaf, { index: index - split, size: size - split, hashes: rest });
  if (below === null) return null;
  return isLeft ? nodeHash(below, beside) : nodeHash(beside, below);
};
