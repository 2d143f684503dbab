import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import { holdsPlaceholder } from '@fixpoint/contracts/documents/template';
import type { NodeDocument, TaskDocument } from '../task-document.ts';
import { type Finding, found, under } from './finding.ts';
import { lintConditions } from './lint-condition.ts';
import { lintReferences } from './lint-reference.ts';
import { lintStrayReferences } from './lint-stray-reference.ts';
import { pathOfNode } from './node-path.ts';
import { usesOf } from './uses.ts';

/** Everything that passes between inputs and nodes. Source: docs/rules.md (Data between nodes). */
export const lintData = (spec: TaskSpec, document: TaskDocument): Finding[] => {
  if (!concernsData(spec, document)) return [];
  return [
    ...lintStrayReferences(document),
    ...lintReferences(spec, document),
    ...lintConditions(spec),
    ...lintUnused(spec, document),
  ];
};

/** A task that neither takes nor names any data is not looked through. */
const concernsData = ({ inputs, nodes }: TaskSpec, document: TaskDocument): boolean =>
  inputs !== undefined ||
  nodes.some((node) => node.if !== undefined || node.output_file !== undefined) ||
  writtenNodes(document).some(({ outputs }) => outputs !== undefined) ||
  holdsPlaceholder(document);

const writtenNodes = (document: TaskDocument): readonly Pick<NodeDocument, 'outputs'>[] =>
  'nodes' in document ? document.nodes : [document];

/** The outputs of the last node are the result of the task. */
const lintUnused = (spec: TaskSpec, document: TaskDocument): Finding[] => {
  const { inputs, nodes } = usesOf(spec, document);
  const written = writtenNodes(document);
  return [
    ...Object.keys(spec.inputs ?? {}).flatMap((name) => (inputs.has(name) ? [] : [found('FX141', ['inputs', name])])),
    ...spec.nodes.slice(0, -1).flatMap(({ id }, index) => {
      const isUnused = written[index]?.outputs !== undefined && !nodes.has(id);
      return isUnused ? under(pathOfNode(document, index), [found('FX140', ['outputs'])]) : [];
    }),
  ];
};
