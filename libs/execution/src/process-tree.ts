import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { systemErrorOf } from './system-error.ts';

/** How the processes that a command started are recognised, wherever they went. */
export interface TreeMark {
  /** Process id of the command: leader of its own group and session. */
  readonly leader: number;
  /** `NAME=value` in the environment of the command; children inherit it through `setsid` and double forks. */
  readonly variable: string;
  /** Paths of the pipes that the command prints into: who holds one belongs to the tree even with an emptied environment. */
  readonly pipes: readonly string[];
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
}

const killBoundMs = 5000;

/** A process that ends between two looks at `/proc` is simply gone. */
const orNull = <Value>(look: () => Value): Value | null => {
  try {
    return look();
  } catch {
    return null;
  }
};

const parseStat = (pid: number, stat: string): Process | null => {
  // The name in parentheses may hold spaces and parentheses; fields are counted after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, , session] = fields;
  if (state === 'Z' || state === 'X') return null;
  return { pid, parent: Number(parent), session: Number(session) };
};

const livingProcesses = (): Process[] => {
  const living: Process[] = [];
  for (const name of orNull(() => readdirSync('/proc')) ?? []) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const stat = orNull(() => readFileSync(`/proc/${name}/stat`, 'latin1'));
    const found = stat === null ? null : parseStat(pid, stat);
    if (found !== null) living.push(found);
  }
  return living;
};

const variablesOf = (pid: number): string[] =>
  orNull(() => readFileSync(`/proc/${pid}/environ`, 'utf8'))?.split('\0') ?? [];

const carries = (pid: number, variable: string): boolean => variablesOf(pid).includes(variable);

const holds = (pid: number, pipes: readonly string[]): boolean =>
  (orNull(() => readdirSync(`/proc/${pid}/fd`)) ?? []).some((fd) => {
    const target = orNull(() => readlinkSync(`/proc/${pid}/fd/${fd}`));
    return target !== null && pipes.some((pipe) => target === pipe || target === `${pipe} (deleted)`);
  });

/** The processes found, and whatever descends from them: a nested runner's children carry another mark. */
const withDescendants = (found: Set<number>, living: readonly Process[]): Set<number> => {
  let before = -1;
  while (before !== found.size) {
    before = found.size;
    for (const { pid, parent } of living) if (found.has(parent)) found.add(pid);
  }
  return found;
};

/**
 * Living processes of a command's tree (zombies are dead). Without `/proc` only the process group can be killed.
 * About 20 µs per process on the machine.
 */
export const membersOf = (mark: TreeMark): number[] => {
  const living = livingProcesses();
  const found = new Set<number>();
  for (const { pid, session } of living) {
    if (session === mark.leader || carries(pid, mark.variable)) found.add(pid);
  }
  return [...withDescendants(found, living)];
};

/** As {@link membersOf}, plus whoever still holds an end of the output; looks at every descriptor, so it is slower. */
export const holdersOf = (mark: TreeMark): number[] => {
  const living = livingProcesses();
  const found = new Set(living.filter(({ pid }) => holds(pid, mark.pipes)).map(({ pid }) => pid));
  return [...withDescendants(found, living)];
};

/** Whether a process id is in use; one that is not ours to signal is. */
const isUsed = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemErrorOf(error)?.code === 'EPERM';
  }
};

/**
 * Trees whose runner died before it could kill them.
 * @param variable start of the variable that names a tree's runner; its process id follows.
 */
export const abandonedBy = (variable: string): number[] => {
  const living = livingProcesses();
  const found = new Set<number>();
  for (const { pid } of living) {
    const owner = variablesOf(pid).find((text) => text.startsWith(variable));
    if (owner !== undefined && !isUsed(Number(owner.slice(variable.length)))) found.add(pid);
  }
  return [...withDescendants(found, living)];
};

const send = (pid: number, signal: NodeJS.Signals): void => {
  // Gone already, or not ours to kill: the next look tells.
  orNull(() => process.kill(pid, signal));
};

/** What a kill achieved. */
export interface Killed {
  /** Distinct processes that were alive at some look. */
  readonly count: number;
  /** Still alive after 5 s; empty means a look found nobody. */
  readonly survivors: readonly number[];
}

/**
 * Kills until a look finds nobody: a tree that forks while it is being killed is looked at again.
 * @param find who belongs to it, asked anew each time.
 */
export const killAll = async (find: () => readonly number[]): Promise<Killed> => {
  const seen = new Set<number>();
  const end = performance.now() + killBoundMs;
  let alive = find();
  for (let wait = 1; alive.length > 0 && performance.now() < end; wait = Math.min(wait * 2, 50)) {
    kill(alive);
    for (const pid of alive) seen.add(pid);
    await pause(wait);
    alive = find();
  }
  return { count: seen.size, survivors: alive };
};

/** Looks in a row that a kill without waiting takes: what was found is stopped, so a tree can not outrun it for long. */
const roundsAtOnce = 3;

/** As {@link killAll}, without waiting for anybody: for the last moment of a process, when nothing can be awaited. */
export const killAtOnce = (find: () => readonly number[]): void => {
  for (let round = 0; round < roundsAtOnce; round += 1) kill(find());
};

const kill = (pids: readonly number[]): void => {
  // Stopped before killed, so that nobody forks while its relatives die.
  for (const pid of pids) send(pid, 'SIGSTOP');
  for (const pid of pids) send(pid, 'SIGKILL');
};
