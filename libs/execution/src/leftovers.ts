import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { removeFolder } from './remove-folder.ts';

/** How long the start of a process waits for it; the next start goes on where this one stopped. */
const MOST_MS = 20_000;

const entriesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder).catch((): string[] => [])).map((name) => join(folder, name));

/**
 * Removes everything in some folders, not the folders: what a process that was killed left behind. For the start of the
 * one process that they belong to, when none of its commands lives.
 * @returns how many entries are left, because they could not be removed or the time was over; never throws.
 */
export const removeLeftovers = async (folders: readonly string[], mostMs = MOST_MS): Promise<number> => {
  const entries = (await Promise.all(folders.map(entriesOf))).flat();
  const done = new AbortController();
  let left = entries.length;
  const removeAll = async (): Promise<void> => {
    const end = performance.now() + mostMs;
    for (const path of entries) {
      if (performance.now() >= end) return;
      await removeFolder(path).then(
        () => {
          left -= 1;
        },
        () => undefined,
      );
    }
  };
  const tooLong = pause(mostMs, undefined, { signal: done.signal }).catch(() => undefined);
  await (mostMs > 0 ? Promise.race([removeAll(), tooLong]) : undefined);
  done.abort();
  return left;
};
