import { covers, overlap } from '@fixpoint/contracts/documents/glob';
import type { NodeSpec, PartSpec } from '@fixpoint/contracts/documents/task';
import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import { shingles, similarity } from './similarity.ts';

/** What a proposal is held against. */
export interface Whole {
  readonly goal: string;
  readonly node: NodeSpec | null;
  readonly declared_parts: readonly PartSpec[] | null;
  readonly budget: { readonly children_left: number; readonly depth_left: number };
  /** Files of the diff so far. */
  readonly changed: readonly string[];
}

export type SliceCheck = (slices: readonly Slice[], whole: Whole) => string[];

const MIN_SLICES = 2;
const MAX_SLICES = 6;
/** Goals that share so much of their words say the same. */
const CLONES_FROM = 0.8;
/** Slices go into one event beside everything else that it says. */
const SLICES_BYTES = 40 * 1024;

/** Two to six, and no more than the lineage may still make. */
const wrongNumber: SliceCheck = ({ length }, { budget }) => {
  if (length < MIN_SLICES) return [`${length} slices are no split`];
  if (length > MAX_SLICES) return [`${length} slices are more than ${MAX_SLICES}`];
  if (budget.depth_left < 1) return ['no split may follow at this depth'];
  return length > budget.children_left ? [`${length} slices, and ${budget.children_left} children are left`] : [];
};

const pairsOf = (slices: readonly Slice[]): [Slice, Slice][] =>
  slices.flatMap((one, at) => slices.slice(at + 1).map((other): [Slice, Slice] => [one, other]));

/** Each its own name, and no path that two of them may touch. */
const notDisjoint: SliceCheck = (slices) =>
  pairsOf(slices).flatMap(([one, other]) => {
    if (one.name === other.name) return [`two slices are called ${one.name}`];
    const shared = one.paths.find((path) => other.paths.some((its) => overlap(path, its)));
    return shared === undefined ? [] : [`${one.name} and ${other.name} may both touch ${shared}`];
  });

/** Declared parts are all there; without any, so is every file of the diff. A slice that names no paths may touch any. */
const notCovering: SliceCheck = (slices, { declared_parts: parts, changed }) => {
  if (parts !== null) {
    const left = parts.filter((part) => !slices.some(({ name }) => name === part.name));
    return left.map(({ name }) => `the declared part ${name} is left out`);
  }
  if (slices.some(({ paths }) => paths.length === 0)) return [];
  const left = changed.filter((path) => !slices.some(({ paths }) => paths.some((glob) => covers(glob, path))));
  return left.length === 0 ? [] : [`no slice has ${left.slice(0, 5).join(', ')}`];
};

const saidBy = ({ name, goal, paths }: Slice): string => [name, goal, ...paths].join('\n');

/** Beside what the whole says anyway. */
const ownShingles = (slice: Slice, whole: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...shingles(saidBy(slice))].filter((item) => !whole.has(item)));

/** By text similarity: of each other, and of the unit that they are to be smaller than. */
const clones: SliceCheck = (slices, { goal, node }) => {
  const whole = shingles(goal);
  const ofEachOther = pairsOf(slices)
    .filter(([one, other]) => similarity(shingles(saidBy(one)), shingles(saidBy(other))) >= CLONES_FROM)
    .filter(([one, other]) => similarity(ownShingles(one, whole), ownShingles(other, whole)) >= CLONES_FROM)
    .map(([one, other]) => `${one.name} and ${other.name} are the same`);
  const ofTheUnit = slices
    .filter((slice) => slice.paths.length === 0 && similarity(shingles(slice.goal), whole) >= CLONES_FROM)
    .filter((slice) => node === null || isSameWork(slice, node))
    .map(({ name }) => `${name} is the unit again`);
  return [...ofEachOther, ...ofTheUnit];
};

const isSameWork = ({ nodes }: Slice, { recipe, postcondition }: NodeSpec): boolean =>
  nodes.some((its) => JSON.stringify([its.recipe, its.postcondition]) === JSON.stringify([recipe, postcondition]));

/** One event holds them all. */
const tooLarge: SliceCheck = (slices) => {
  const bytes = Buffer.byteLength(JSON.stringify(slices));
  return bytes > SLICES_BYTES ? [`the slices take ${bytes} bytes, and there is room for ${SLICES_BYTES}`] : [];
};

const CHECKS: readonly SliceCheck[] = [wrongNumber, notDisjoint, notCovering, clones, tooLarge];

/** What speaks against a proposal whatever anybody thinks of it. Source: docs/rules.md (Council). */
export const objectionsTo: SliceCheck = (slices, whole) => CHECKS.flatMap((check) => check(slices, whole));
