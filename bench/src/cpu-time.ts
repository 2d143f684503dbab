import { readFile } from 'node:fs/promises';

/** Ticks per second of `/proc`; 100 on every Linux that Node supports. */
const TICKS = 100;

/** Processor time that processes have used so far, ms; null where there is no `/proc`. */
export const cpuTime = async (pids: readonly number[]): Promise<number | null> =>
  sum(await Promise.all(pids.map(ownTime)));

/** The same with all that they started, ended or not: a server that has a process per connection. */
export const treeCpuTime = async (pid: number): Promise<number | null> => {
  const fields = await statOf(pid);
  if (fields === null) return null;
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const living = children.split(' ').filter((text) => text !== '');
  const below = await Promise.all(living.map((child) => treeCpuTime(Number(child))));
  // A child that has ended since is in its parent's next reading.
  return ms(fields, [11, 12, 13, 14]) + below.reduce<number>((total, time) => total + (time ?? 0), 0);
};

const ownTime = async (pid: number): Promise<number | null> => {
  const fields = await statOf(pid);
  return fields === null ? null : ms(fields, [11, 12]);
};

/** The name, in parentheses, may hold spaces. After it: user and system time (11, 12), the same of ended children (13, 14). */
const statOf = async (pid: number): Promise<readonly string[] | null> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

const ms = (fields: readonly string[], places: readonly number[]): number =>
  (places.reduce((ticks, place) => ticks + Number(fields[place]), 0) * 1000) / TICKS;

/** Null when one of them is not known. */
export const sum = (times: readonly (number | null)[]): number | null =>
  times.reduce<number | null>((total, time) => (total === null || time === null ? null : total + time), 0);
