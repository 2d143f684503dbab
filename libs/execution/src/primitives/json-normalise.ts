import { z } from 'zod';
import { replaceFile } from './atomic-file.ts';
import { workspacePath } from './inside.ts';
import { printJson } from './json-print.ts';
import { JsonTextProblem, readJson } from './json-tree.ts';
import { definePrimitive, failed, type PrimitiveResult } from './primitive.ts';
import { readWorkspaceText } from './workspace-text.ts';

const parameters = z.strictObject({
  path: workspacePath.describe('the file'),
  indent: z.int().min(1).max(8).default(2).describe('spaces per level'),
  sort_keys: z
    .boolean()
    .default(false)
    .describe('true: keys in the order of RFC 8785; false: keys stay in their order'),
});
type Parameters = z.output<typeof parameters>;

type Normal =
  | { readonly usable: true; readonly text: string; readonly normal: string }
  | { readonly usable: false; readonly result: PrimitiveResult };

/** A file as it is and as it should be. */
const normalOf = async (folder: string, { path, indent, sort_keys }: Parameters): Promise<Normal> => {
  const read = await readWorkspaceText(folder, path);
  if (read.found !== 'text') {
    return { usable: false, result: failed(`${path} ${read.found === 'nothing' ? 'does not exist' : read.problem}`) };
  }
  try {
    const form = { indent: ' '.repeat(indent), sortKeys: sort_keys };
    return {
      usable: true,
      text: read.text,
      normal: `${printJson(readJson(read.text.replace(/^\uFEFF/, '')), form)}\n`,
    };
  } catch (error) {
    if (error instanceof JsonTextProblem) return { usable: false, result: failed(`${path}: ${error.message}`) };
    throw error;
  }
};

/** Prints a JSON file in one form: what it says stays the same, to the last digit of a number. */
export const jsonNormalise = definePrimitive({
  name: 'json-normalise',
  description:
    'Prints a JSON file in one form: indented, LF, one line end at the end, no mark of byte order. Says what it said before; a key that comes twice is refused.',
  effects: true,
  inProcess: false,
  parameters,
  promises: { check: 'json-normalised', with: (asked) => ({ ...asked }) },
  run: async ({ folder }, asked) => {
    const { path } = asked;
    const read = await normalOf(folder ?? '', asked);
    if (!read.usable) return read.result;
    const changed = read.text !== read.normal;
    if (changed && !(await replaceFile(folder ?? '', path, { bytes: read.normal }))) {
      return failed(`something is in the way of ${path}`);
    }
    return {
      ok: true,
      output: { path, changed },
      detail: `${path} ${changed ? 'is normalised' : 'was normal before'}`,
    };
  },
});

/** The check that belongs to {@link jsonNormalise}. */
export const jsonNormalised = definePrimitive({
  name: 'json-normalised',
  description: 'Holds when a file is JSON in the form of json-normalise with the same parameters.',
  effects: false,
  inProcess: false,
  parameters,
  run: async ({ folder }, asked) => {
    const read = await normalOf(folder ?? '', asked);
    if (!read.usable) return read.result;
    const ok = read.text === read.normal;
    return { ok, output: null, detail: `${asked.path} ${ok ? 'is normalised' : 'is not in its one form'}` };
  },
});
