import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import {
  mapTemplates,
  type Placeholder,
  type TemplatePart,
  templateParts,
  textOfValue,
  valueAt,
} from '@fixpoint/contracts/documents/template';
import type { Json } from '@fixpoint/contracts/json';
import { jsonBytes } from './bounded.ts';
import type { Admitted, NodeResult, Task } from './state.ts';

/** What a node may refer to: the inputs of its task, and what the nodes before it came to. */
export interface NodeData {
  readonly inputs: Readonly<Record<string, Json>>;
  readonly nodes: Readonly<Record<string, NodeResult>>;
}

/** An event holds 64 KiB; refs and the like stand beside what is counted here. */
const EVENT_BYTES = 56 * 1024;

/** A value that the node needs is not there, or can not be handed over. */
export class DataMissing extends Error {
  override readonly name = 'DataMissing';
}

/** Whether what nodes came to has to be kept for later ones. */
export const takesData = (nodes: readonly NodeSpec[]): boolean =>
  nodes.some((node) => node.templated !== undefined || node.if !== undefined);

export const dataOf = ({ inputs, results }: Task): NodeData => ({ inputs, nodes: results });

/**
 * The node as it is gated, run and judged: every reference has its value. The same for all runs of the node, since what
 * was before it does not change any more.
 * @throws {DataMissing}
 */
export const withData = (node: NodeSpec, task: Task, { intent, keep, source }: Admitted): NodeSpec => {
  if (node.templated === undefined) return node;
  const room = EVENT_BYTES - jsonBytes([intent, keep, source]);
  const filling: Filling = { data: dataOf(task), room, left: room };
  const { templated: _, ...filled } = mapTemplates(node, {
    text: (text, place) => inText(text, filling, place),
    value: (text) => inValue(text, filling),
  });
  if (jsonBytes(filled) > room) throw tooLarge(room);
  return filled;
};

interface Filling {
  readonly data: NodeData;
  /** Most bytes of JSON that the node may have. */
  readonly room: number;
  /** What of it no value has taken. */
  left: number;
}

const tooLarge = (room: number): DataMissing =>
  new DataMissing(`the node with its values is larger than ${room} bytes`);

/** A node of some KiB may name a large value thousands of times: what can not fit is never made. */
const take = (filling: Filling, bytes: number): void => {
  filling.left -= bytes;
  if (filling.left < 0) throw tooLarge(filling.room);
};

const inValue = (text: string, filling: Filling): Json => {
  const parts = templateParts(text);
  const [only] = parts;
  if (parts.length !== 1 || only === undefined || typeof only === 'string') return joined(parts, filling);
  const value = filledIn(only, filling.data);
  take(filling, jsonBytes(value));
  return value;
};

const inText = (text: string, filling: Filling, place: readonly (string | number)[]): string => {
  const filled = joined(templateParts(text), filling);
  // The kernel ends a variable at its first U+0000.
  if (place[0] === 'env' && filled.includes('\0')) {
    throw new DataMissing(`the variable ${String(place[1])} would hold a U+0000`);
  }
  return filled;
};

const joined = (parts: readonly TemplatePart[], filling: Filling): string =>
  parts.map((part) => (typeof part === 'string' ? part : asText(part, filling))).join('');

const asText = (part: Exclude<TemplatePart, string>, filling: Filling): string => {
  const text = textOfValue(filledIn(part, filling.data));
  take(filling, Buffer.byteLength(text));
  return text;
};

/** Lint lets no unreadable part through. */
const filledIn = (part: Exclude<TemplatePart, string>, data: NodeData): Json => {
  if ('unreadable' in part) throw new DataMissing(`${part.unreadable} can not be read`);
  const value = lookUp(part, data) ?? part.fallback;
  if (value === undefined) throw new DataMissing(`\${{ ${part.text} }} has no value${reasonOf(part, data)}`);
  return value;
};

const lookUp = ({ reference }: Placeholder, data: NodeData): Json | undefined => {
  if (reference.of === 'input') return valueAt(data.inputs, reference.path);
  const result = Object.hasOwn(data.nodes, reference.node) ? data.nodes[reference.node] : undefined;
  if (result === undefined) return undefined;
  return reference.of === 'outcome' ? result.outcome : valueAt(result.output, reference.path);
};

const reasonOf = ({ reference }: Placeholder, data: NodeData): string => {
  if (reference.of === 'input') return '';
  const result = data.nodes[reference.node];
  if (result === undefined) return ': the node has not run';
  if (result.tooLarge) return ': the output is larger than 32 KiB and stands in an artifact';
  return result.outcome === 'satisfied'
    ? ` in the output of ${reference.node}`
    : `: ${reference.node} is ${result.outcome}`;
};
