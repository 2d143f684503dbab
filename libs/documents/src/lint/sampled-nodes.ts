import type { NodeSpec, TaskSpec } from '@fixpoint/contracts/documents/task';
import {
  mapTemplates,
  type Placeholder,
  templateParts,
  textOfValue,
  valueAt,
} from '@fixpoint/contracts/documents/template';
import type { Json } from '@fixpoint/contracts/json';
import { knownAt, outputSchemaOf } from './output-schema.ts';

/** Stands for a value of which nothing is known. */
const UNKNOWN = '\u0000unknown';

/** Two values of each type, of which one may fit where the other does not. */
const SAMPLES: Readonly<Record<string, readonly [Json, Json]>> = {
  string: ['text', '0'.repeat(64)],
  integer: [1, 1_000],
  number: [1, 1_000],
  boolean: [true, false],
  array: [[], ['text']],
  object: [{}, { key: 'text' }],
};

/** Whether a value of which nothing is known stands anywhere in there. */
export const holdsUnknown = (parameters: unknown): boolean => {
  if (typeof parameters === 'string') return parameters.includes(UNKNOWN);
  if (typeof parameters !== 'object' || parameters === null) return false;
  return Object.values(parameters).some(holdsUnknown);
};

/** The node with sample values of the types that its references have: one node where it refers to nothing, else two. */
export const sampledNodes = (spec: TaskSpec, index: number): readonly [NodeSpec, ...NodeSpec[]] => {
  const node = spec.nodes[index];
  if (node === undefined) throw new Error(`there is no node ${index}`);
  return node.templated === undefined ? [node] : [sampled(spec, node, 0), sampled(spec, node, 1)];
};

const sampled = (spec: TaskSpec, node: NodeSpec, which: 0 | 1): NodeSpec => {
  const sample = (part: Placeholder): Json => sampleOf(spec, part, which);
  return mapTemplates(node, {
    text: (text) => textOfValue(filled(text, sample)),
    value: (text) => filled(text, sample),
  });
};

const filled = (text: string, sample: (part: Placeholder) => Json): Json => {
  const parts = templateParts(text).map((part) => {
    if (typeof part === 'string') return { value: part, lone: false };
    return { value: 'unreadable' in part ? UNKNOWN : sample(part), lone: true };
  });
  const [only] = parts;
  if (parts.length === 1 && only?.lone === true) return only.value;
  return parts.map(({ value }) => textOfValue(value)).join('');
};

const sampleOf = (spec: TaskSpec, { reference, fallback }: Placeholder, which: 0 | 1): Json => {
  if (reference.of === 'outcome') return 'satisfied';
  if (reference.of === 'input') return valueAt(spec.inputs ?? {}, reference.path) ?? fallback ?? UNKNOWN;
  const node = spec.nodes.find(({ id }) => id === reference.node);
  const schema = node === undefined ? null : outputSchemaOf(node);
  const known = schema === null ? null : knownAt(schema, reference.path);
  return (known?.is === 'typed' ? SAMPLES[known.type]?.[which] : undefined) ?? UNKNOWN;
};
