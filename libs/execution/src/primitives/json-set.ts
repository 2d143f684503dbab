import { z } from 'zod';
import { replaceFile } from './atomic-file.ts';
import { workspacePath } from './inside.ts';
import { jsonPointer, reach } from './json-pointer.ts';
import { printJson } from './json-print.ts';
import { type JsonNode, type JsonObject, JsonTextProblem, readJson } from './json-tree.ts';
import { definePrimitive, failed, type PrimitiveResult } from './primitive.ts';
import { readWorkspaceText } from './workspace-text.ts';

const value = z.json().refine((given) => JSON.stringify(given) !== undefined, 'is JSON');

const parameters = z.strictObject({
  path: workspacePath.describe('the file'),
  pointer: jsonPointer.describe('where, as a JSON pointer (RFC 6901): `/scripts/build`; objects on the way are made'),
  value: value.describe('the value, any JSON'),
});
type Parameters = z.output<typeof parameters>;

/** One text for all spellings of a value; numbers of more digits than a double has keep them all. */
const canonical = (node: JsonNode): string => {
  switch (node.kind) {
    case 'number':
      return /^-?\d{16,}$/.test(node.source) ? node.source : String(Number(node.source));
    case 'array':
      return `[${node.items.map(canonical).join(',')}]`;
    case 'object': {
      const members = node.members.map((member) => `${JSON.stringify(member.key)}:${canonical(member.value)}`);
      return `{${members.sort().join(',')}}`;
    }
    default:
      return printJson(node, { indent: '', sortKeys: false });
  }
};

const nodeOf = (json: Parameters['value']): JsonNode => readJson(JSON.stringify(json));

interface Edited {
  readonly text: string;
  /** The whole text with the value set; equal to `text` when it is so already. */
  readonly wanted: string;
}

/** @throws {JsonTextProblem} also when something on the way is no object. */
const edited = (text: string, { pointer, value: json }: Parameters): Edited => {
  const mark = text.startsWith('\uFEFF') ? 1 : 0;
  const body = text.slice(mark);
  const { node, depth, missing } = reach(readJson(body), pointer);
  const unit = /\n([ \t]+)"/.exec(body)?.[1] ?? '  ';
  const eol = body.includes('\r\n') ? '\r\n' : '\n';
  const [key, ...deeper] = missing;
  if (key === undefined) {
    if (canonical(node) === canonical(nodeOf(json))) return { text, wanted: text };
    const printed = printJson(nodeOf(json), { indent: isInOneLine(body, node) ? '' : unit, sortKeys: false }, depth);
    return { text, wanted: text.slice(0, mark) + spliced(body, node, printed.replaceAll('\n', eol)) };
  }
  if (node.kind !== 'object')
    throw new JsonTextProblem(`${pointer}: there is no ${JSON.stringify(key)} in the ${node.kind}`);
  const member = { key, json: deeper.reduceRight((inner, name) => ({ [name]: inner }), json) };
  return { text, wanted: text.slice(0, mark) + withMember(body, node, { ...member, depth, unit, eol }) };
};

const isInOneLine = (text: string, { kind, start, end }: JsonNode): boolean =>
  (kind === 'object' || kind === 'array') && end - start > 2 && !text.slice(start, end).includes('\n');

const spliced = (text: string, { start, end }: Pick<JsonNode, 'start' | 'end'>, into: string): string =>
  text.slice(0, start) + into + text.slice(end);

interface NewMember {
  readonly key: string;
  readonly json: Parameters['value'];
  readonly depth: number;
  readonly unit: string;
  readonly eol: string;
}

/** The text with a member more at the end of an object, written as its neighbours are. */
const withMember = (text: string, node: JsonObject, { key, json, depth, unit, eol }: NewMember): string => {
  const inOneLine = isInOneLine(text, node);
  const printed = printJson(nodeOf(json), { indent: inOneLine ? '' : unit, sortKeys: false }, depth + 1);
  const member = `${JSON.stringify(key)}: ${printed.replaceAll('\n', eol)}`;
  const last = node.members.at(-1);
  if (last === undefined) {
    const inside = `{${eol}${unit.repeat(depth + 1)}${member}${eol}${unit.repeat(depth)}}`;
    return spliced(text, node, inside);
  }
  const separator = inOneLine ? ', ' : `,${eol}${unit.repeat(depth + 1)}`;
  return spliced(text, { start: last.value.end, end: last.value.end }, separator + member);
};

const editedFile = async (folder: string, asked: Parameters): Promise<Edited | PrimitiveResult> => {
  const read = await readWorkspaceText(folder, asked.path);
  if (read.found !== 'text')
    return failed(`${asked.path} ${read.found === 'nothing' ? 'does not exist' : read.problem}`);
  try {
    return edited(read.text, asked);
  } catch (error) {
    if (error instanceof JsonTextProblem) return failed(`${asked.path}: ${error.message}`);
    throw error;
  }
};

/** Sets one value of a JSON file and leaves every other byte as it is. */
export const jsonSet = definePrimitive({
  name: 'json-set',
  description: 'Sets one value of a JSON file; every other byte stays as it is.',
  effects: true,
  inProcess: false,
  parameters,
  promises: { check: 'json-matches', with: ({ path, pointer, value: equals }) => ({ path, pointer, equals }) },
  run: async ({ folder }, asked) => {
    const { path, pointer } = asked;
    const file = await editedFile(folder ?? '', asked);
    if ('ok' in file) return file;
    const changed = file.text !== file.wanted;
    if (changed && !(await replaceFile(folder ?? '', path, { bytes: file.wanted }))) {
      return failed(`something is in the way of ${path}`);
    }
    return { ok: true, output: { path, changed }, detail: `${path} ${changed ? 'has a new' : 'had this'} ${pointer}` };
  },
});

/** The check that belongs to {@link jsonSet}. */
export const jsonMatches = definePrimitive({
  name: 'json-matches',
  description: 'Holds when a JSON file has this value in this place; the order of keys is no difference.',
  effects: false,
  inProcess: false,
  parameters: z.strictObject({
    path: workspacePath.describe('the file'),
    pointer: jsonPointer.describe('where, as a JSON pointer (RFC 6901)'),
    equals: value.describe('the value that must be there, any JSON'),
  }),
  run: async ({ folder }, { path, pointer, equals }) => {
    const file = await editedFile(folder ?? '', { path, pointer, value: equals });
    if ('ok' in file) return file;
    const ok = file.text === file.wanted;
    return { ok, output: null, detail: `${path} ${ok ? 'is as asked for' : 'has another value'} at ${pointer}` };
  },
});
