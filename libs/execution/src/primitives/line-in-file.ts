import { z } from 'zod';
import { replaceFile } from './atomic-file.ts';
import { foundIn, pattern, patternMs } from './bounded-pattern.ts';
import { workspacePath } from './inside.ts';
import { definePrimitive, failed, type PrimitiveResult } from './primitive.ts';
import { readWorkspaceText } from './workspace-text.ts';

const parameters = z.strictObject({
  path: workspacePath.describe('the file; made when it does not exist'),
  line: z
    .string()
    .regex(/^[^\0\r\n]*$/, 'is one line without its end')
    .refine((line) => line.isWellFormed(), 'holds no lone surrogate')
    .describe('the line, without its end'),
  replaces: pattern
    .optional()
    .describe('a pattern: the first other line with a match becomes the line, the rest of them go'),
});
type Parameters = z.output<typeof parameters>;

/** A text as its lines; what ends the first one ends them all. */
interface Lines {
  readonly lines: readonly string[];
  readonly eol: string;
  /** The last line has an end too. */
  readonly isEnded: boolean;
}

const linesOf = (text: string): Lines => {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const lines = text.split(eol);
  const isEnded = lines.at(-1) === '';
  return { lines: isEnded ? lines.slice(0, -1) : lines, eol, isEnded };
};

/** What the text should be; null when the pattern takes too long. */
const wantedText = (text: string, { line, replaces }: Parameters): string | null => {
  const { lines, eol, isEnded } = linesOf(text);
  const found = replaces === undefined ? lines.map(() => false) : foundIn(replaces, lines);
  if (found === null) return null;
  const isOld = (at: number): boolean => found[at] === true && lines[at] !== line;
  const place = lines.includes(line) ? -1 : lines.findIndex((_, at) => isOld(at));
  const kept = lines.flatMap((each, at) => (at === place ? [line] : isOld(at) ? [] : [each]));
  if (kept.includes(line)) return kept.join(eol) + (isEnded ? eol : '');
  return [...kept, line].map((each) => each + eol).join('');
};

type Wanted = { readonly text: string | null; readonly wanted: string } | PrimitiveResult;

const wantedFile = async (folder: string, asked: Parameters): Promise<Wanted> => {
  const read = await readWorkspaceText(folder, asked.path);
  if (read.found === 'unusable') return failed(`${asked.path} ${read.problem}`);
  const text = read.found === 'text' ? read.text : null;
  const wanted = wantedText(text ?? '', asked);
  if (wanted === null) return failed(`${asked.path} could not be matched within ${patternMs} ms`);
  return { text, wanted };
};

/** Sees to it that a file has a line, in place of older forms of it. */
export const lineInFile = definePrimitive({
  name: 'line-in-file',
  description: 'Sees to it that a text file has a line, in place of older forms of it, else at the end.',
  effects: true,
  inProcess: false,
  parameters,
  promises: { check: 'file-has-line', with: (asked) => ({ ...asked }) },
  run: async ({ folder }, asked) => {
    const { path } = asked;
    const file = await wantedFile(folder ?? '', asked);
    if ('ok' in file) return file;
    const changed = file.text !== file.wanted;
    if (changed && !(await replaceFile(folder ?? '', path, { bytes: file.wanted }))) {
      return failed(`something is in the way of ${path}`);
    }
    return { ok: true, output: { path, changed }, detail: `${path} ${changed ? 'has' : 'had'} the line` };
  },
});

/** The check that belongs to {@link lineInFile}. */
export const fileHasLine = definePrimitive({
  name: 'file-has-line',
  description: 'Holds when a text file has a line and no older form of it.',
  effects: false,
  inProcess: false,
  parameters: z.strictObject({
    ...parameters.shape,
    path: workspacePath.describe('the file'),
    replaces: pattern.optional().describe('a pattern that no other line may match'),
  }),
  run: async ({ folder }, asked) => {
    const file = await wantedFile(folder ?? '', asked);
    if ('ok' in file) return file;
    const ok = file.text === file.wanted;
    return {
      ok,
      output: null,
      detail: `${asked.path} ${ok ? 'has the line' : 'does not have the line, or more than it'}`,
    };
  },
});
