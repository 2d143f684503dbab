import type { NodeSpec, PartSpec, TaskSpec } from '@fixpoint/contracts/documents/task';
import {
  mapTemplates,
  type Placeholder,
  type TemplatePart,
  templateParts,
} from '@fixpoint/contracts/documents/template';
import { celProblem } from '../cel.ts';
import type { TaskDocument } from '../task-document.ts';
import { conditionReferences } from './condition-references.ts';

export type Place = readonly (string | number)[];

/** One thing between `${{` and `}}`, and where its text stands below the node. */
export interface Use {
  readonly place: Place;
  readonly part: Exclude<TemplatePart, string>;
  /** Nothing else is in the text. */
  readonly whole: boolean;
}

/** Everything that a node refers to, in the order of the node. */
export const usesIn = (node: NodeSpec): readonly Use[] => {
  if (node.templated === undefined) return [];
  const uses: Use[] = [];
  const look = <Text extends string>(text: Text, place: Place): Text => {
    const parts = templateParts(text);
    for (const part of parts) if (typeof part !== 'string') uses.push({ place, part, whole: parts.length === 1 });
    return text;
  };
  mapTemplates(node, { text: look, value: look });
  return uses;
};

/** What a goal of the task refers to. */
export const usesInGoal = ({ goal = '' }: TaskDocument): readonly Use['part'][] =>
  templateParts(goal).filter((part) => typeof part !== 'string');

/** The parts of a unit, and theirs. */
const partsIn = (parts: readonly PartSpec[] = []): readonly PartSpec[] =>
  parts.flatMap((part) => [part, ...partsIn(part.parts)]);

/** Inputs of the task that a part takes: it has them all. */
const inputsIn = ({ nodes }: PartSpec): readonly string[] => [
  ...nodes
    .flatMap(usesIn)
    .flatMap(({ part }) => ('reference' in part && part.reference.of === 'input' ? [part.reference.path[0]] : [])),
  ...nodes.flatMap(conditionsIn).flatMap(({ inputs }) => [...inputs]),
];

const conditionsIn = (node: NodeSpec) =>
  node.if !== undefined && celProblem('condition', node.if) === null ? [conditionReferences(node.if)] : [];

/** Names of all inputs and nodes that anything refers to. */
export const usesOf = (
  spec: TaskSpec,
  document: TaskDocument,
): { readonly inputs: ReadonlySet<string>; readonly nodes: ReadonlySet<string> } => {
  const parts = [...usesInGoal(document), ...spec.nodes.flatMap(usesIn).map(({ part }) => part)];
  const references = parts.filter((part): part is Placeholder => 'reference' in part).map(({ reference }) => reference);
  const conditions = spec.nodes.flatMap(conditionsIn);
  return {
    inputs: new Set([
      ...partsIn(spec.parts).flatMap(inputsIn),
      ...references.flatMap((reference) => (reference.of === 'input' ? [reference.path[0]] : [])),
      ...conditions.flatMap(({ inputs }) => inputs),
    ]),
    nodes: new Set([
      ...references.flatMap((reference) => (reference.of === 'input' ? [] : [reference.node])),
      ...conditions.flatMap(({ nodes }) => nodes),
    ]),
  };
};
