import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** A folder where command lines run, and every process that came of them. */
export interface Workplace {
  /** Absolute; the working directory. */
  readonly folder: string;
  /** Their `TMPDIR`. */
  readonly temporary: string;
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  start(args: readonly string[], options?: RunOptions): Started;
  /** Command lines of processes that were started here, directly or not, and still run. */
  leftovers(): string[];
  /** Processes of this machine with exactly this command line. */
  running(commandLine: string): string[];
  remove(): void;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What runs the command line, as a command and its first arguments. */
  readonly through?: readonly string[];
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves at its end. */
  readonly finished: Promise<Finished>;
}

/** The command line as people use it: the built program, in processes of its own. */
export const workplace = (): Workplace => {
  const folder = mkdtempSync(join(tmpdir(), 'fixpoint-cli-e2e-'));
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const start = (args: readonly string[], { env = {}, through = [] }: RunOptions = {}): Started => {
    const [command = process.execPath, ...rest] = [...through, process.execPath, MAIN, ...args];
    // Everything that is started inherits the mark, whatever session or parent it gets.
    const marked = { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: temporary, ...env };
    return observed(spawn(command, rest, { cwd: folder, env: marked, stdio: ['ignore', 'pipe', 'pipe'] }));
  };
  return {
    folder,
    temporary,
    start,
    run: (args, options) => start(args, options).finished,
    leftovers: () => markedProcesses(`TMPDIR=${temporary}\0`),
    running: (commandLine) => processIds().filter((pid) => commandLineOf(pid) === commandLine),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};

const observed = (child: ChildProcess): Started => {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (piece) => {
    stdout += piece;
  });
  child.stderr?.on('data', (piece) => {
    stderr += piece;
  });
  const finished = once(child, 'close').then(([code]) => ({ code, stdout, stderr }));
  return { process: child, stdout: () => stdout, stderr: () => stderr, finished };
};

const markedProcesses = (mark: string): string[] =>
  processIds()
    .filter((pid) => read(`/proc/${pid}/environ`).includes(mark))
    .map(commandLineOf)
    .filter((line) => line !== '');

const processIds = (): string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

const commandLineOf = (pid: string): string => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();

/** Empty when the process is gone, or not ours. */
const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** Waits for a fact. @throws when it is not so within the time */
export const until = async <Fact>(
  what: string,
  ask: () => Fact | false | undefined | null,
  timeoutMs = 60_000,
): Promise<Fact> => {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const fact = ask();
    if (fact !== false && fact !== undefined && fact !== null) return fact;
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(50);
  }
};

/** Lines of JSON. */
export const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
