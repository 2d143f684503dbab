import type { NodeSpec, TaskSpec } from '@fixpoint/contracts/documents/task';
import { celConstant, celProblem } from '../cel.ts';
import { conditionReferences } from './condition-references.ts';
import { type Finding, found, under } from './finding.ts';
import { earlierNode, knownInput } from './lint-names.ts';

/** Every `if`: whether it can be asked, of what, and whether it can ever say something else. */
export const lintConditions = (spec: TaskSpec): Finding[] => [
  ...spec.nodes.flatMap((node, index) =>
    node.if === undefined ? [] : under(['nodes', index, 'if'], lintCondition(spec, { index, text: node.if })),
  ),
  ...(spec.nodes.every(hasCondition) ? [found('FX139', ['nodes', 0, 'if'])] : []),
];

const hasCondition = (node: NodeSpec): boolean => node.if !== undefined;

const lintCondition = (spec: TaskSpec, { index, text }: { index: number; text: string }): Finding[] => {
  const problem = celProblem('condition', text);
  if (problem !== null) return [found('FX137', [], { message: `The condition can not be used: ${problem}.` })];
  const { inputs, nodes } = conditionReferences(text);
  const names = [
    ...inputs.flatMap((name) => knownInput(spec, name)),
    ...nodes.flatMap((id) => earlierNode(spec, id, index)),
  ];
  return names.length > 0 ? names : lintConstant(text);
};

const lintConstant = (text: string): Finding[] => {
  const constant = celConstant(text);
  if (constant === null) return [];
  return [found('FX138', [], { message: constant ? 'The condition always holds.' : 'The condition never holds.' })];
};
