import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { foundIn, pattern, patternMs } from './bounded-pattern.ts';
import { linkIn, workspacePath } from './inside.ts';
import { definePrimitive, type PrimitiveResult } from './primitive.ts';
import { longestText } from './workspace-text.ts';

const parameters = z.strictObject({
  path: workspacePath.describe('the file'),
  exists: z.boolean().default(true).describe('false: it must not be there'),
  equals: z.string().optional().describe('all of its text'),
  contains: z.string().optional().describe('a part of its text'),
  regex: pattern.optional().describe('a pattern that is found in its text; `^` and `$` are the ends of the text'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe('the hash of its bytes, in hex'),
});
type Parameters = z.output<typeof parameters>;

const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
};

/** What does not hold about a text; null when all that is asked holds. */
const textProblem = (text: string, { equals, contains, regex }: Parameters): string | null => {
  if (equals !== undefined && text !== equals) return 'differs from the text asked for';
  if (contains !== undefined && !text.includes(contains)) return 'does not contain the text asked for';
  if (regex === undefined) return null;
  const found = foundIn(regex, [text]);
  if (found === null) return `could not be matched within ${patternMs} ms`;
  return found[0] === true ? null : 'does not match the pattern';
};

const contentProblem = async (path: string, asked: Parameters): Promise<string | null> => {
  if (asked.sha256 !== undefined && (await hashOf(path)) !== asked.sha256) return 'has another sha256';
  if (asked.equals === undefined && asked.contains === undefined && asked.regex === undefined) return null;
  const { size } = await lstat(path);
  if (size > longestText) return `is longer than ${longestText} bytes`;
  return textProblem(await readFile(path, 'utf8'), asked);
};

const problemOf = async (folder: string, asked: Parameters): Promise<string | null> => {
  const link = await linkIn(folder, asked.path);
  if (link !== null) return `is reached by the link ${link}; links are not followed`;
  const path = join(folder, asked.path);
  const found = await lstat(path).catch(() => null);
  if (found === null) return asked.exists ? 'does not exist' : null;
  if (!asked.exists) return 'exists';
  return found.isFile() ? contentProblem(path, asked) : 'is no file';
};

const judge = async (folder: string, asked: Parameters): Promise<PrimitiveResult> => {
  const problem = await problemOf(folder, asked);
  return { ok: problem === null, output: null, detail: `${asked.path} ${problem ?? 'is as asked for'}` };
};

/** A file of the workspace is there and is what it should be. */
export const fileMatches = definePrimitive({
  name: 'file-matches',
  description:
    'Holds when a file exists (or does not) and all of equals, contains, regex and sha256 that are given hold.',
  effects: false,
  inProcess: false,
  parameters,
  run: ({ folder }, asked) => judge(folder ?? '', asked),
});
