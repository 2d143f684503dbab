import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import type { CouncilQuestion } from '@fixpoint/models/council-model';
import { canBeSliced, derivedSlice, type Piece } from './derived-slice.ts';
import { salvageSlice } from './salvage.ts';

/** One way to look at a unit. Pure; what it sees no way to cut it gives no slices for, and says why. */
export interface Lens {
  readonly name: string;
  look(question: CouncilQuestion): Look;
}

export interface Look {
  readonly slices: readonly Slice[];
  /** Why so, or why not. */
  readonly why: string;
  /** How much of what is known about the unit speaks for this cut, 0 to 1. */
  readonly support: number;
}

const MOST_PIECES = 6;

const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

const nothing = (why: string): Look => ({ slices: [], why, support: 0 });

/** What the author of the unit said about how to cut it. */
export const declaredParts: Lens = {
  name: 'declared parts',
  look: ({ request }) => {
    const parts = request.declared_parts ?? [];
    if (parts.length === 0) return nothing('the task declares no parts');
    const slices = parts.map((part) => ({ ...part, inputs: request.inputs, salvage: false }));
    return { slices, why: `the task declares ${slices.length} parts`, support: 1 };
  },
};

/** Pieces of the stalled node, where its recipe can be told to do less. */
const cut = ({ request }: CouncilQuestion, pieces: readonly Piece[], said: Pick<Look, 'why' | 'support'>): Look => {
  const { why } = said;
  const { node } = request;
  if (node === null) return nothing('there is no node that could be told to do less');
  if (pieces.length < 2) return nothing(why);
  if (!canBeSliced(node))
    return nothing(`the recipe of ${node.id} asks for no FIXPOINT_SLICE_ variable, so it would do all again`);
  return { ...said, slices: pieces.map((piece) => derivedSlice(request, node, piece)) };
};

const LIST_ITEM = /^\s*(?:[-*+]\s+\[[ xX]\]\s+|\d{1,3}[.)]\s+)(\S.*)$/;

const nameOf = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 80);

/** Items of a check list or numbered list in the goal: each ships alone. Those that are ticked are done. Beside them a goal says one line of its own; more is work that no item has. */
export const verticalSlices: Lens = {
  name: 'vertical slices',
  look: (question) => {
    const lines = question.request.goal.split('\n').filter((line) => !/^\s*[-*+]\s+\[[xX]\]/.test(line));
    const items = lines.flatMap((line) => LIST_ITEM.exec(line)?.[1] ?? []);
    const pieces = items.map((goal) => ({ name: nameOf(goal), goal: goal.trim(), paths: [] }));
    const prose = lines.filter((line) => line.trim() !== '' && !LIST_ITEM.test(line)).length;
    const support = shareOf(pieces.length, pieces.length + Math.max(0, prose - 1));
    return cut(question, pieces, { why: `the goal lists ${pieces.length} tasks`, support });
  },
};

/** The folder that tells files apart: below what all of them share. */
const layersOf = (paths: readonly string[]): ReadonlyMap<string, string[]> => {
  const shared = sharedFolder(paths);
  const layers = new Map<string, string[]>();
  for (const path of paths) {
    const [first, ...rest] = path.slice(shared.length).split('/');
    const layer = rest.length === 0 ? path : `${shared}${first}`;
    layers.set(layer, [...(layers.get(layer) ?? []), path]);
  }
  return layers;
};

const sharedFolder = (paths: readonly string[]): string => {
  const [first = '', ...others] = paths.map((path) => path.split('/').slice(0, -1));
  const length = others.reduce<number>((most, folders) => {
    const differs = folders.findIndex((folder, at) => folder !== first[at]);
    return Math.min(most, differs === -1 ? folders.length : differs);
  }, first.length);
  return first.length === 0 ? '' : [...first.slice(0, length), ''].join('/').replace(/^\/$/, '');
};

/** The files of the diff so far, by the layer that they are in: the less one layer has of them, the more is told apart. */
export const architecture: Lens = {
  name: 'architecture',
  look: (question) => {
    const layers = [...layersOf(question.changed)].sort(([, a], [, b]) => b.length - a.length);
    const own = layers.slice(0, layers.length > MOST_PIECES ? MOST_PIECES - 1 : MOST_PIECES);
    const rest = layers.slice(own.length).flatMap(([, paths]) => paths);
    const pieces = own.map(([layer, paths]) => pieceOf(layer, paths.length === 1 ? paths : [`${layer}/**`], question));
    if (rest.length > 0) pieces.push(pieceOf('the rest', rest, question));
    const [largest = ['', []]] = layers;
    const support = shareOf(question.changed.length - largest[1].length, question.changed.length);
    return cut(question, pieces, { why: `the diff so far is in ${layers.length} layers`, support });
  },
};

const pieceOf = (name: string, paths: readonly string[], { request }: CouncilQuestion): Piece => ({
  name,
  goal: `Only ${paths.join(', ').slice(0, 500)} of: ${request.goal.slice(0, 2000)}`,
  paths,
});

/** Files that a finding names, or that what failed mentions. */
const failingFiles = ({ changed, findings, request, detail }: CouncilQuestion): string[] => {
  const told = [detail, ...request.failures.map(({ justification }) => justification)].join('\n');
  return changed.filter((path) => findings.some((finding) => finding.path === path) || told.includes(path));
};

/** What fails for itself, so that the rest can go on: the more that is, the better. The rest lands as it is where its patch is small enough. */
export const failingPart: Lens = {
  name: 'failing part',
  look: (question) => {
    const failing = failingFiles(question);
    const rest = question.changed.filter((path) => !failing.includes(path));
    if (failing.length === 0 || rest.length === 0) return nothing('what fails can not be told from the rest');
    const why = `${failing.length} of ${question.changed.length} changed files are named by what failed`;
    const pieces = [pieceOf('what fails', failing, question), pieceOf('the rest', rest, question)];
    const look = cut(question, pieces, { why, support: shareOf(rest.length, question.changed.length) });
    const { slices } = look;
    const salvage = salvageSlice(question, rest);
    return { ...look, slices: salvage === null || slices.length === 0 ? slices : [salvage, ...slices.slice(0, 1)] };
  },
};
