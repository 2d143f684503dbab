import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import type { CouncilRequest } from '@fixpoint/models/council-model';

/** Variables that tell a recipe and its check which slice they are for. Source: docs/rules.md (Council). */
const SLICE_VARIABLE = 'FIXPOINT_SLICE_';

const says = (part: unknown): boolean => JSON.stringify(part).includes(SLICE_VARIABLE);

/** Whether a recipe does less when it is told to: else a slice would be the whole work again. */
export const canBeSliced = (node: NodeSpec): boolean => says(node.recipe);

/** Whether the check asks for less, too. Where it does not, a slice is held to the whole of it. */
export const checkCanBeSliced = ({ postcondition }: NodeSpec): boolean => postcondition === null || says(postcondition);

export interface Piece {
  readonly name: string;
  readonly goal: string;
  readonly paths: readonly string[];
}

/** What the checks of a node say of one piece alone. */
export const checksOfPiece = ({ postcondition }: NodeSpec): NonNullable<NodeSpec['postcondition']>['all'] =>
  (postcondition?.all ?? []).filter((check) => 'command' in check && says(check));

/** Tells a command which piece it is for. */
export const sliceEnv = ({ env }: NodeSpec, { name, goal, paths }: Piece): NodeSpec['env'] => ({
  ...env,
  [`${SLICE_VARIABLE}NAME`]: name,
  [`${SLICE_VARIABLE}GOAL`]: goal,
  [`${SLICE_VARIABLE}PATHS`]: paths.join('\n'),
});

/** The stalled node, told to do one piece: the same recipe and check, with variables that say which. */
export const derivedSlice = ({ inputs }: CouncilRequest, node: NodeSpec, piece: Piece): Slice => ({
  name: piece.name,
  goal: piece.goal,
  paths: [...piece.paths],
  nodes: [
    {
      ...node,
      goal: piece.goal,
      env: sliceEnv(node, piece),
    },
  ],
  inputs,
  salvage: false,
  parts: [],
});
