import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemErrorOf } from '../system-error.ts';

export interface FileContent {
  readonly bytes: string | Uint8Array;
  /** Permissions; left out: those of the file that is replaced, or what the process gives to a new one. */
  readonly mode?: number;
}

/** A folder in the way, or a file where a folder is needed. */
const isInTheWay = (error: unknown): boolean =>
  ['EISDIR', 'ENOTDIR', 'EEXIST', 'ELOOP', 'ENOTEMPTY'].includes(systemErrorOf(error)?.code ?? '');

/**
 * Writes a file of a workspace at once: whoever looks, also after a crash, sees all of the old one or all of the new one.
 * @returns as {@link putInPlace}.
 */
export const replaceFile = async (folder: string, path: string, { bytes, mode }: FileContent): Promise<boolean> => {
  const there = await lstat(join(folder, path)).catch(() => null);
  const kept = mode ?? (there?.isFile() === true ? there.mode & 0o7777 : undefined);
  return putInPlace(folder, path, async (unfinished) => {
    await writeFile(unfinished, bytes, { flag: 'wx' });
    if (kept !== undefined) await chmod(unfinished, kept);
  });
};

/**
 * Makes something under another name and moves it to its place. Folders above it are made. The path must have been asked
 * for links before.
 * @param make makes it at the path that it is given.
 * @returns false when something is in the way: a folder in its place, a file in place of a folder.
 */
export const putInPlace = async (
  folder: string,
  path: string,
  make: (unfinished: string) => Promise<void>,
): Promise<boolean> => {
  const target = join(folder, path);
  try {
    await mkdir(dirname(target), { recursive: true });
    const unfinished = join(await roomFor(folder, target), `.fixpoint-${randomUUID()}`);
    try {
      await make(unfinished);
      await rename(unfinished, target);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    return true;
  } catch (error) {
    if (isInTheWay(error)) return false;
    throw error;
  }
};

/** Where an unfinished file is no part of the workspace, as long as it can be moved from there. */
const roomFor = async (folder: string, target: string): Promise<string> => {
  const own = await lstat(join(folder, '.git')).catch(() => null);
  const beside = await lstat(dirname(target));
  return own?.isDirectory() === true && own.dev === beside.dev ? join(folder, '.git') : dirname(target);
};
