import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { spawnProblemOf } from './invocation.ts';
import { maskedOutput } from './masked-output.ts';
import { captureOutput } from './output-capture.ts';
import { chunksOf, closeWriteEnds, type OutputPipe, openOutputPipes } from './output-pipe.ts';
import { holdersOf, type Killed, killAll, killAtOnce, membersOf, type TreeMark } from './process-tree.ts';
import type { Command, CommandResult, Output } from './runner.ts';
import type { Limits } from './sandbox/limits.ts';
import { openReport, type Report } from './sandbox/report.ts';
import type { Launch, NotStarted, ProcessExit } from './sandbox/sandbox.ts';
import { type Watched, watchLimits } from './sandbox/watch-limits.ts';
import { systemErrorOf } from './system-error.ts';

/** Variable by which a command's processes are found again; its value is different for each command. */
export const markName = 'FIXPOINT_COMMAND_ID';

// Node fires a longer timer at once.
const longestTimerMs = 2 ** 31 - 1;

/** How long what still prints after the main process ended (`> >(tee log)`) may finish. */
const graceMs = 250;

type Pipes = readonly [OutputPipe, OutputPipe];

type End = 'exit' | 'timed_out' | 'cancelled' | { readonly overLimit: string };

interface Started {
  readonly leader: number;
  readonly pipes: Pipes;
  readonly startedAt: number;
  readonly exit: Promise<ProcessExit>;
  readonly report: Report;
  readonly endOf: Launch['endOf'];
}

type Start = Started | NotStarted;

interface Surroundings {
  readonly stdin: string | Uint8Array;
  /** Private to this command. */
  readonly folder: string;
}

/** Starts a process in a session and group of its own, its output in pipes that nobody reads yet. */
export const startChild = async (launch: Launch, { stdin, folder }: Surroundings): Promise<Start> => {
  const input = await openInput(stdin, folder);
  const pipes = await openOutputPipes(folder);
  const startedAt = performance.now();
  try {
    const { file, args, cwd, env, hiddenArgs, endOf } = launch;
    const own = hiddenArgs === null ? [] : (['pipe', 'pipe'] as const);
    const stdio = [input, pipes[0].writeEnd, pipes[1].writeEnd, ...own];
    const child = spawn(file, args, { cwd, env, detached: true, stdio });
    const exit = exitOf(child);
    const report = openReport(child, hiddenArgs);
    return { leader: await spawned(child), pipes, startedAt, exit, report, endOf };
  } catch (error) {
    for (const { readEnd } of pipes) readEnd.destroy();
    const problem = systemErrorOf(error);
    if (problem === null) throw error;
    return { problem: spawnProblemOf(problem) };
  } finally {
    closeWriteEnds(pipes);
    if (input !== 'ignore') closeSync(input);
  }
};

/** A file and not a pipe: it cannot fill up, and the process may open `/dev/stdin` again. */
const openInput = async (stdin: string | Uint8Array, folder: string): Promise<number | 'ignore'> => {
  if (stdin.length === 0) return 'ignore';
  const path = join(folder, 'stdin');
  await writeFile(path, stdin, { mode: 0o600 });
  return openSync(path, 'r');
};

const exitOf = (child: ChildProcess): Promise<ProcessExit> =>
  new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });

const spawned = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid ?? Number.NaN));
  });

/** Trees that somebody waits for. */
const watched = new Set<TreeMark>();

process.on('exit', () => {
  for (const mark of watched) killAtOnce(() => membersOf(mark));
});

interface Supervision {
  readonly command: Command;
  /** Value of the mark. */
  readonly id: string;
  readonly artifacts: Artifacts;
  readonly limits: Limits;
  /** Private to this command. */
  readonly folder: string;
}

const shownOf = (pipe: OutputPipe, { masked = '' }: Pick<Command, 'masked'>): AsyncIterable<Buffer> =>
  masked === '' ? chunksOf(pipe) : maskedOutput(chunksOf(pipe), masked);

/**
 * Waits for the end, or makes it; afterwards nothing of the tree lives. Nor does it when this process exits before.
 * @throws what the artifact store threw, after the tree was killed.
 */
export const superviseChild = async (
  { leader, pipes, startedAt, exit, report, endOf }: Started,
  { command, id, artifacts, limits, folder }: Supervision,
): Promise<CommandResult> => {
  const mark: TreeMark = { leader, variable: `${markName}=${id}`, pipes: pipes.map(({ path }) => path) };
  watched.add(mark);
  try {
    const outputs = Promise.all(pipes.map((pipe) => captureOutput(shownOf(pipe, command), artifacts)));
    const watched = { leader, limits, folders: [folder, command.cwd] };
    const end = await firstEnd({ exit, outputs, watched }, command);
    const durationMs = performance.now() - startedAt;
    const killed = await endTree(mark, pipes, end === 'exit' ? graceMs : 0);
    if (killed.survivors.length > 0) for (const { readEnd } of pipes) readEnd.destroy();
    const [stdout, stderr] = asPair(await outputs);
    const exited = killed.survivors.length > 0 ? noExit : endOf(await exit, await report.text());
    return { ...resultOf(end, exited, killed), durationMs, stdout, stderr };
  } catch (error) {
    // Whatever went wrong here: nothing of the tree may go on unwatched.
    await killAll(() => membersOf(mark));
    throw error;
  } finally {
    watched.delete(mark);
    for (const { readEnd } of pipes) readEnd.destroy();
    report.close();
  }
};

const noExit: ProcessExit = { exitCode: null, signal: null };

const resultOf = (
  end: End,
  exited: ProcessExit | NotStarted,
  { count, survivors }: Killed,
): Omit<CommandResult, 'durationMs' | 'stdout' | 'stderr'> => {
  if (typeof end === 'object') {
    const error = { code: 'over_limit', detail: end.overLimit } as const;
    return { exitCode: null, signal: 'SIGKILL', status: 'signaled', leftovers: 0, survivors, error };
  }
  if (end !== 'exit') {
    const known = 'problem' in exited ? noExit : exited;
    return { ...known, status: end, leftovers: 0, survivors, error: null };
  }
  if ('problem' in exited) {
    return { ...noExit, status: 'not_started', leftovers: count, survivors, error: exited.problem };
  }
  const status = exited.signal === null ? 'exited' : 'signaled';
  return { ...exited, status, leftovers: count, survivors, error: null };
};

const asPair = ([first, second]: readonly Output[]): [Output, Output] => {
  if (first === undefined || second === undefined) throw new Error('a process has two output streams');
  return [first, second];
};

/** What ends the command first; a store that fails counts as a cancel, its error is thrown once the tree is dead. */
const firstEnd = async (
  { exit, outputs, watched }: { exit: Promise<ProcessExit>; outputs: Promise<unknown>; watched: Watched },
  { timeoutMs, signal }: Command,
): Promise<End> => {
  const waiting = new AbortController();
  const { promise, resolve } = Promise.withResolvers<End>();
  const timer = setTimeout(() => resolve('timed_out'), Math.min(timeoutMs, longestTimerMs));
  const cancelled = () => resolve('cancelled');
  signal?.addEventListener('abort', cancelled, { signal: waiting.signal });
  if (signal?.aborted === true) cancelled();
  void exit.then(() => resolve('exit'));
  outputs.catch(cancelled);
  void watchLimits(watched, waiting.signal).then((over) => {
    if (over !== null) resolve({ overLimit: over });
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    waiting.abort();
  }
};

const drained = (pipes: Pipes, ms: number): Promise<unknown> =>
  Promise.race([Promise.all(pipes.map(({ readEnd }) => closed(readEnd))), pause(ms, undefined, { ref: false })]);

const closed = (readEnd: OutputPipe['readEnd']): Promise<void> =>
  new Promise((resolve) => {
    if (readEnd.readableEnded || readEnd.destroyed) resolve();
    else readEnd.once('close', resolve);
  });

const areDrained = (pipes: Pipes): boolean => pipes.every(({ readEnd }) => readEnd.readableEnded || readEnd.destroyed);

/** Kills by mark, then whoever emptied its environment, left the session and still holds the output. */
const endTree = async (mark: TreeMark, pipes: Pipes, grace: number): Promise<Killed> => {
  if (grace > 0) await drained(pipes, grace);
  const marked = await killAll(() => membersOf(mark));
  await drained(pipes, 20);
  if (areDrained(pipes)) return marked;
  const holders = await killAll(() => holdersOf(mark));
  return { count: marked.count + holders.count, survivors: [...marked.survivors, ...holders.survivors] };
};
