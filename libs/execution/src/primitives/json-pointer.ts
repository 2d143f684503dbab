import { z } from 'zod';
import type { JsonMember, JsonNode } from './json-tree.ts';

/** RFC 6901: `/scripts/build`; `~1` is a slash, `~0` a tilde. */
export const jsonPointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)+$/, 'is a JSON pointer below the root, as /a/b');

/** Keys that a pointer names, from the root down. */
const keysOf = (pointer: string): string[] =>
  pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

/** How far a pointer leads into a document. */
export interface Reached {
  /** The value, or the last container on the way to it. */
  readonly node: JsonNode;
  /** Keys that lead there. */
  readonly depth: number;
  /** Keys that are not there; empty: `node` is the value. */
  readonly missing: readonly string[];
}

export const reach = (root: JsonNode, pointer: string): Reached => {
  const keys = keysOf(pointer);
  let node = root;
  for (const [depth, key] of keys.entries()) {
    const next = childOf(node, key);
    if (next === undefined) return { node, depth, missing: keys.slice(depth) };
    node = next;
  }
  return { node, depth: keys.length, missing: [] };
};

const childOf = (node: JsonNode, key: string): JsonNode | undefined => {
  if (node.kind === 'object') return node.members.find((member: JsonMember) => member.key === key)?.value;
  return node.kind === 'array' && /^(?:0|[1-9]\d*)$/.test(key) ? node.items[Number(key)] : undefined;
};
