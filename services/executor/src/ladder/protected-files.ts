import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, opendir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type HashedPath, protectedHash, protectedPaths } from '@fixpoint/validation/firewall';

/**
 * One hash over the files that the mode protects, as they are in a folder now. Equal hashes, untouched files.
 * Null without globs: nothing is read.
 */
export const hashOfProtected = async (globs: readonly string[], folder: string): Promise<string | null> => {
  if (globs.length === 0) return null;
  const isProtected = protectedPaths(globs);
  const files: HashedPath[] = [];
  for await (const path of pathsBelow(folder, '')) {
    if (!isProtected(path)) continue;
    const hash = await hashOf(join(folder, path));
    if (hash !== null) files.push({ path, hash });
  }
  return protectedHash(globs, files);
};

/** Every file and link below a folder, hidden ones too, without following links and without git's own. */
async function* pathsBelow(folder: string, prefix: string): AsyncGenerator<string> {
  for await (const entry of await opendir(join(folder, prefix))) {
    if (entry.name === '.git') continue;
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) yield* pathsBelow(folder, path);
    else yield path;
  }
}

/** Content with the executable bit, or where a link points; null for folders and what is no file. */
const hashOf = async (path: string): Promise<string | null> => {
  const status = await lstat(path);
  if (status.isSymbolicLink()) return `link:${await readlink(path)}`;
  if (!status.isFile()) return null;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return `${(status.mode & 0o100) === 0 ? 'file' : 'executable'}:${hash.digest('hex')}`;
};
