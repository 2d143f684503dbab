import { readdirSync, readFileSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Limits } from './limits.ts';

export interface Watched {
  /** Process id of the command. */
  readonly leader: number;
  readonly limits: Limits;
  /** What is counted against `disk_bytes`. */
  readonly folders: readonly string[];
}

const LOOK_MS = 200;
const DISK_LOOK_MS = 1_000;
/** Share of the time that counting files may take. */
const DISK_SHARE = 0.1;

/**
 * Looks at a running command, what the kernel does not count for it: processes, memory and files of all of it together.
 * @returns the first limit that it is over, for people; null when told to stop.
 */
export const watchLimits = async (watched: Watched, stop: AbortSignal): Promise<string | null> => {
  let diskLookAt = performance.now() + DISK_LOOK_MS;
  while (await stillRunning(stop)) {
    const over = overInMemory(watched);
    if (over !== null) return over;
    const startedAt = performance.now();
    if (startedAt < diskLookAt) continue;
    const bytes = await bytesIn(watched.folders, { most: watched.limits.disk_bytes, stop });
    if (bytes > watched.limits.disk_bytes) return `more than ${watched.limits.disk_bytes} bytes of files`;
    const tookMs = performance.now() - startedAt;
    diskLookAt = performance.now() + Math.max(DISK_LOOK_MS, tookMs / DISK_SHARE);
  }
  return null;
};

const stillRunning = async (stop: AbortSignal): Promise<boolean> => {
  await pause(LOOK_MS, undefined, { signal: stop, ref: false }).catch(() => undefined);
  return !stop.aborted;
};

const overInMemory = ({ leader, limits }: Watched): string | null => {
  const pids = treeOf(leader);
  if (pids.length > limits.processes) return `more than ${limits.processes} processes`;
  let resident = 0;
  for (const pid of pids) resident += residentBytes(pid);
  return resident > limits.memory_bytes ? `more than ${limits.memory_bytes} bytes of memory` : null;
};

/** A process that ends between two looks has nothing. */
const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};

const namesIn = (path: string): string[] => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};

const childrenOf = (pid: number): number[] =>
  namesIn(`/proc/${pid}/task`)
    .flatMap((thread) => textOf(`/proc/${pid}/task/${thread}/children`).split(' '))
    .filter((child) => child !== '')
    .map(Number);

/** A process and all below it. Cost goes with the size of the tree, not with that of the machine. */
const treeOf = (leader: number): number[] => {
  const found = [leader];
  for (const pid of found) found.push(...childrenOf(pid));
  return found;
};

/** Memory that is nobody else's: anonymous and shared memory, no programs. */
const residentBytes = (pid: number): number => {
  const status = textOf(`/proc/${pid}/status`);
  const kib = [...status.matchAll(/^Rss(?:Anon|Shmem):\s*(\d+) kB$/gm)].map(([, amount]) => Number(amount));
  return kib.reduce((sum, amount) => sum + amount, 0) * 1024;
};

interface Counting {
  /** Beyond this nobody needs to know. */
  readonly most: number;
  readonly stop: AbortSignal;
}

const bytesIn = async (folders: readonly string[], { most, stop }: Counting): Promise<number> => {
  let bytes = 0;
  const left = [...folders];
  for (let folder = left.pop(); folder !== undefined && bytes <= most; folder = left.pop()) {
    if (stop.aborted) return 0;
    const entries = await entriesOf(folder);
    left.push(...entries.filter(({ isFolder }) => isFolder).map(({ path }) => path));
    for (const { path } of entries.filter(({ isFolder }) => !isFolder)) bytes += await allocated(path);
  }
  return bytes;
};

/** A folder that is gone, or that the command took our rights to, holds nothing that can be counted. */
const entriesOf = async (folder: string): Promise<{ path: string; isFolder: boolean }[]> => {
  try {
    const entries: { path: string; isFolder: boolean }[] = [];
    for await (const entry of await opendir(folder)) {
      entries.push({ path: join(folder, entry.name), isFolder: entry.isDirectory() });
    }
    return entries;
  } catch {
    return [];
  }
};

const allocated = async (path: string): Promise<number> => ((await lstat(path).catch(() => null))?.blocks ?? 0) * 512;
