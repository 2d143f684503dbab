import { chmod, lstat, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes a folder, also a read-only one, or whatever was put in its place. Nothing there is no error. */
export const removeFolder = async (folder: string): Promise<void> => {
  const there = await lstat(folder).catch(() => null);
  // What a link names is nobody's business here.
  if (there?.isDirectory() === true) await setWritable(folder, true);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
};

/** Gives or takes the right to write in a folder; a link's target is nobody's business here. */
export const setWritable = async (folder: string, writable: boolean): Promise<void> => {
  if (writable) await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await setWritable(path, writable);
    else if (entry.isFile() && !writable) await chmod(path, (await stat(path)).mode & 0o777 & ~0o222);
  }
  if (!writable) await chmod(folder, 0o555);
};
