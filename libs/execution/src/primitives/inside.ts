import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** A path in the workspace as documents write it: relative, `/` between parts, never into `.git`. */
export const workspacePath = z
  .string()
  .min(1)
  .refine((path) => !path.includes('\0') && path.isWellFormed(), 'holds no U+0000 and no lone surrogate')
  .refine((path) => !path.startsWith('/') && !path.endsWith('/'), 'is relative and names a file')
  .refine(
    (path) => path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'stays in the workspace',
  )
  .refine((path) => path.split('/').every((part) => part.toLowerCase() !== '.git'), 'stays out of .git');

/**
 * The part of a path that is a link, if any: through a link a path may lead anywhere, so none is followed.
 * @returns null when every part that exists is a real folder or file.
 */
export const linkIn = async (folder: string, path: string): Promise<string | null> => {
  const parts = path.split('/');
  for (let count = 1; count <= parts.length; count += 1) {
    const part = parts.slice(0, count).join('/');
    const found = await lstat(join(folder, part)).catch(() => null);
    if (found === null) return null;
    if (found.isSymbolicLink()) return part;
  }
  return null;
};
