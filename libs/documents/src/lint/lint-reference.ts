import { checksOutput, type NodeSpec, type TaskSpec } from '@fixpoint/contracts/documents/task';
import { type Placeholder, type Reference, valueAt } from '@fixpoint/contracts/documents/template';
import { celProblem } from '../cel.ts';
import type { TaskDocument } from '../task-document.ts';
import type { ValuePath } from '../text/source-text.ts';
import { conditionReferences } from './condition-references.ts';
import { type Finding, found, under } from './finding.ts';
import { earlierNode, knownInput } from './lint-names.ts';
import { pathOfNode } from './node-path.ts';
import { knownAt, outputSchemaOf } from './output-schema.ts';
import { type Place, type Use, usesIn, usesInGoal } from './uses.ts';

/** Every `${{ … }}` of a task, each at its text. */
export const lintReferences = (spec: TaskSpec, document: TaskDocument): Finding[] => [
  ...under(
    ['goal'],
    usesInGoal(document).flatMap((part) => lintInGoal(spec, part)),
  ),
  ...spec.nodes.flatMap((node, index) =>
    usesIn(node).flatMap((use) => {
      const path = writtenPath(document, index, use.place);
      return path === null ? [] : under(path, lintUse(spec, index, use));
    }),
  ),
];

/** Where the text stands in the document; null for a goal that the node has from its task, where it was looked at. */
const writtenPath = (document: TaskDocument, index: number, place: Place): ValuePath | null => {
  const node = 'nodes' in document ? document.nodes[index] : document;
  if (place[0] === 'goal' && (!('nodes' in document) || document.nodes[index]?.goal === undefined)) return null;
  const isLone = place[0] === 'postcondition' && node?.postcondition !== undefined && !('all' in node.postcondition);
  return [...pathOfNode(document, index), ...(isLone ? ['postcondition', ...place.slice(3)] : place)];
};

const lintInGoal = (spec: TaskSpec, part: Use['part']): Finding[] => {
  if ('unreadable' in part) return [unreadable(part.unreadable)];
  if (part.reference.of === 'input') return lintInput(spec, part, part.reference);
  const message = 'The goal of a task knows its inputs only: it is there before any node has run.';
  return [found('FX133', [], { message })];
};

const unreadable = (text: string): Finding => found('FX130', [], { message: `\`${text}\` can not be read.` });

const lintUse = (spec: TaskSpec, index: number, { part, whole }: Use): Finding[] => {
  if ('unreadable' in part) return [unreadable(part.unreadable)];
  const { reference } = part;
  if (reference.of === 'input') return [...lintInput(spec, part, reference), ...lintInputText(spec, reference, whole)];
  const unknown = earlierNode(spec, reference.node, index);
  if (unknown.length > 0 || reference.of === 'outcome') return unknown;
  const from = spec.nodes.find(({ id }) => id === reference.node);
  return from === undefined ? [] : lintOutput({ spec, index, part, whole }, from, reference.path);
};

type InputReference = Extract<Reference, { of: 'input' }>;

const lintInput = (spec: TaskSpec, { text, fallback }: Placeholder, { path }: InputReference): Finding[] => {
  const [name] = path;
  const unknown = knownInput(spec, name);
  if (unknown.length > 0 || fallback !== undefined) return unknown;
  const value = valueAt(spec.inputs ?? {}, path);
  if (value !== undefined && value !== null) return [];
  return [found('FX132', [], { message: `\`${text}\` ${value === null ? 'is null' : 'is not among the inputs'}.` })];
};

const lintInputText = (spec: TaskSpec, { path }: InputReference, whole: boolean): Finding[] => {
  const value = valueAt(spec.inputs ?? {}, path);
  return !whole && typeof value === 'object' && value !== null ? [inText(`inputs.${path.join('.')}`)] : [];
};

const inText = (what: string): Finding =>
  found('FX136', [], { message: `\`${what}\` is a list or an object, and stands here as JSON.` });

interface Reading {
  readonly spec: TaskSpec;
  readonly index: number;
  readonly part: Placeholder;
  readonly whole: boolean;
}

const lintOutput = (reading: Reading, from: NodeSpec, path: readonly string[]): Finding[] => {
  const { part, whole } = reading;
  const schema = outputSchemaOf(from);
  const known = schema === null ? null : knownAt(schema, path);
  if (known?.is === 'never') {
    return [found('FX135', [], { message: `The output of \`${from.id}\` never has \`${path.join('.')}\`.` })];
  }
  const isOptional = known?.is === 'typed' && known.optional;
  return [
    ...(part.fallback === undefined ? lintPresence(reading, from, isOptional) : []),
    ...(known?.is === 'typed' && !whole && ['array', 'object'].includes(known.type) ? [inText(part.text)] : []),
  ];
};

const lintPresence = ({ spec, index, part }: Reading, from: NodeSpec, isOptional: boolean): Finding[] => {
  const missing = whyMissing(from, isOptional);
  if (missing === null || isAskedFor(spec.nodes[index], from.id)) return [];
  return [found('FX134', [], { message: `\`${part.text}\` may not be there: ${missing}.` })];
};

const whyMissing = (from: NodeSpec, isOptional: boolean): string | null => {
  if (from.if !== undefined) return `\`${from.id}\` may be skipped`;
  if (from.policy === 'best_effort') return `\`${from.id}\` may end as degraded, and then hands on nothing`;
  if (isOptional) return 'its schema does not require it';
  return isSilentWhenMet(from)
    ? `the recipe of \`${from.id}\` is skipped when its postcondition holds already, and puts out nothing then`
    : null;
};

/** A check of the output is only asked after the recipe; a file is read in any case; a command may print an object. */
const isSilentWhenMet = (node: NodeSpec): boolean => {
  if (node.postcondition === null || node.output_file !== undefined || checksOutput(node)) return false;
  return node.postcondition.all.every((check) => 'primitive' in check);
};

/** The node has a condition that names the other one: whoever wrote it has thought of it. */
const isAskedFor = (node: NodeSpec | undefined, id: string): boolean =>
  node?.if !== undefined &&
  celProblem('condition', node.if) === null &&
  conditionReferences(node.if).nodes.includes(id);
