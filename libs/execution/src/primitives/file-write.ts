import { createHash } from 'node:crypto';
import { z } from 'zod';
import { replaceFile } from './atomic-file.ts';
import { linkIn, workspacePath } from './inside.ts';
import { definePrimitive, failed, type PrimitiveResult } from './primitive.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const write = async (folder: string, path: string, content: string): Promise<PrimitiveResult> => {
  const link = await linkIn(folder, path);
  if (link !== null) return failed(`${link} is a link; links are not followed`);
  if (!(await replaceFile(folder, path, { bytes: content }))) return failed(`something is in the way of ${path}`);
  return { ok: true, output: { path, sha256: sha256(content) }, detail: `wrote ${path}` };
};

/** Writes one file of the workspace, with the folders it needs. */
export const fileWrite = definePrimitive({
  name: 'file-write',
  description: 'Writes a file in the workspace, with the folders above it, all at once.',
  effects: true,
  inProcess: false,
  parameters: z.strictObject({
    path: workspacePath.describe('the file'),
    content: z.string().describe('all of its text'),
  }),
  promises: { check: 'file-matches', with: ({ path, content }) => ({ path, sha256: sha256(content) }) },
  run: ({ folder }, { path, content }) => write(folder ?? '', path, content),
});
