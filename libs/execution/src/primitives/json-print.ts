import type { JsonNode } from './json-tree.ts';

export interface JsonForm {
  /** What one level is indented by; empty: everything in one line. */
  readonly indent: string;
  readonly sortKeys: boolean;
}

/**
 * A JSON value in one form. Strings get their shortest spelling, numbers keep theirs.
 * @param depth how many levels the value stands below the margin
 */
export const printJson = (node: JsonNode, form: JsonForm, depth = 0): string => {
  switch (node.kind) {
    case 'string':
      return JSON.stringify(JSON.parse(node.source));
    case 'array':
      return list(
        '[]',
        node.items.map((item) => printJson(item, form, depth + 1)),
        { form, depth },
      );
    case 'object': {
      const members = form.sortKeys ? node.members.toSorted((a, b) => compare(a.key, b.key)) : node.members;
      const colon = form.indent === '' ? ':' : ': ';
      const printed = members.map(({ key, value }) => JSON.stringify(key) + colon + printJson(value, form, depth + 1));
      return list('{}', printed, { form, depth });
    }
    default:
      return node.source;
  }
};

const list = (
  brackets: '[]' | '{}',
  items: readonly string[],
  { form: { indent }, depth }: { readonly form: JsonForm; readonly depth: number },
): string => {
  const [open, close] = [brackets.slice(0, 1), brackets.slice(1)];
  if (items.length === 0) return brackets;
  if (indent === '') return `${open}${items.join(',')}${close}`;
  const inside = `\n${indent.repeat(depth + 1)}`;
  return `${open}${inside}${items.join(`,${inside}`)}\n${indent.repeat(depth)}${close}`;
};

/** By UTF-16 code units, as RFC 8785 sorts. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
