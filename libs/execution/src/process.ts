import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { type Invocation, spawnProblemOf } from './invocation.ts';
import { maskedOutput } from './masked-output.ts';
import { captureOutput } from './output-capture.ts';
import { chunksOf, closeWriteEnds, type OutputPipe, openOutputPipes } from './output-pipe.ts';
import { holdersOf, type Killed, killAll, killAtOnce, membersOf, type TreeMark } from './process-tree.ts';
import type { Command, CommandResult, Output, StartProblem } from './runner.ts';
import { systemErrorOf } from './system-error.ts';

/** Variable by which a command's processes are found again; its value is different for each command. */
export const markName = 'FIXPOINT_COMMAND_ID';

// Node fires a longer timer at once.
const longestTimerMs = 2 ** 31 - 1;

/** How long what still prints after the main process ended (`> >(tee log)`) may finish. */
const graceMs = 250;

type Pipes = readonly [OutputPipe, OutputPipe];

interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

type End = 'exit' | 'timed_out' | 'cancelled';

interface Started {
  readonly leader: number;
  readonly pipes: Pipes;
  readonly startedAt: number;
  readonly exit: Promise<Exit>;
}

type Start = Started | { readonly problem: { readonly code: StartProblem; readonly detail: string } };

interface Surroundings {
  readonly cwd: string;
  readonly env: Record<string, string>;
  /** Private to this command. */
  readonly folder: string;
}

/** Starts a process in a session and group of its own, its output in pipes that nobody reads yet. */
export const startChild = async (invocation: Invocation, { cwd, env, folder }: Surroundings): Promise<Start> => {
  const input = await openInput(invocation.stdin, folder);
  const pipes = await openOutputPipes(folder);
  const startedAt = performance.now();
  try {
    const stdio = [input, pipes[0].writeEnd, pipes[1].writeEnd];
    const child = spawn(invocation.file, invocation.args, { cwd, env, detached: true, stdio });
    const exit = exitOf(child);
    return { leader: await spawned(child), pipes, startedAt, exit };
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

const exitOf = (child: ChildProcess): Promise<Exit> =>
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
}

const shownOf = (pipe: OutputPipe, { masked = '' }: Pick<Command, 'masked'>): AsyncIterable<Buffer> =>
  masked === '' ? chunksOf(pipe) : maskedOutput(chunksOf(pipe), masked);

/**
 * Waits for the end, or makes it; afterwards nothing of the tree lives. Nor does it when this process exits before.
 * @throws what the artifact store threw, after the tree was killed.
 */
export const superviseChild = async (
  { leader, pipes, startedAt, exit }: Started,
  { command, id, artifacts }: Supervision,
): Promise<CommandResult> => {
  const mark: TreeMark = { leader, variable: `${markName}=${id}`, pipes: pipes.map(({ path }) => path) };
  watched.add(mark);
  try {
    const outputs = Promise.all(pipes.map((pipe) => captureOutput(shownOf(pipe, command), artifacts)));
    const end = await firstEnd(exit, outputs, command);
    const durationMs = performance.now() - startedAt;
    const killed = await endTree(mark, pipes, end === 'exit' ? graceMs : 0);
    if (killed.survivors.length > 0) for (const { readEnd } of pipes) readEnd.destroy();
    const [stdout, stderr] = asPair(await outputs);
    const exited = killed.survivors.includes(leader) ? noExit : await exit;
    return { ...endOf(end, exited, killed), durationMs, stdout, stderr, error: null };
  } catch (error) {
    // Whatever went wrong here: nothing of the tree may go on unwatched.
    await killAll(() => membersOf(mark));
    throw error;
  } finally {
    watched.delete(mark);
    for (const { readEnd } of pipes) readEnd.destroy();
  }
};

const noExit: Exit = { exitCode: null, signal: null };

const endOf = (end: End, { exitCode, signal }: Exit, { count, survivors }: Killed) => {
  if (end !== 'exit') return { status: end, exitCode, signal, leftovers: 0, survivors };
  const status: CommandResult['status'] = signal === null ? 'exited' : 'signaled';
  return { status, exitCode, signal, leftovers: count, survivors };
};

const asPair = ([first, second]: readonly Output[]): [Output, Output] => {
  if (first === undefined || second === undefined) throw new Error('a process has two output streams');
  return [first, second];
};

/** What ends the command first; a store that fails counts as a cancel, its error is thrown once the tree is dead. */
const firstEnd = async (
  exit: Promise<Exit>,
  outputs: Promise<unknown>,
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
