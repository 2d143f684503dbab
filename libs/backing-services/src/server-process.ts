import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGuard } from './guard.ts';

/** What to run, as whom, and where its output goes. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute; holds `server.json` and `server.log`, next to the server's data. */
  readonly folder: string;
  /** Unix user to run as; null keeps the caller's. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

export interface ServerProcess {
  readonly pid: number;
  /** Null while it runs, else a sentence with the exit code or signal. */
  ended(): string | null;
  /** Asks it to stop (SIGINT), kills it after 20 s, and resolves once it is gone. Idempotent. */
  stop(): Promise<void>;
}

interface Record {
  readonly owner: number;
  readonly server: number;
  readonly command: string;
}

const STOP_TIMEOUT_MS = 20_000;

/**
 * Starts a server in a session of its own, so that Ctrl-C in a terminal reaches only us and we decide when it stops.
 * It never keeps this process alive, and it does not outlive it: a guard stops it when this process ends in any way.
 * @throws when the folder belongs to a live process, or the command cannot be started.
 */
export const startServerProcess = async (command: ServerCommand): Promise<ServerProcess> => {
  await mkdir(command.folder, { recursive: true });
  await stopLeftover(command.folder);
  const log = openSync(join(command.folder, 'server.log'), 'a');
  const child = spawn(command.command, [...command.args], {
    cwd: command.folder,
    detached: true,
    stdio: ['ignore', log, log],
    ...(command.user ?? {}),
  });
  closeSync(log);
  await once(child, 'spawn');
  child.unref();
  const pid = child.pid ?? 0;
  const record: Record = { owner: process.pid, server: pid, command: command.command };
  await writeFile(join(command.folder, 'server.json'), JSON.stringify(record));
  return serverProcess(child, pid, command.folder);
};

const serverProcess = (child: ChildProcess, pid: number, folder: string): ServerProcess => {
  const guard = startGuard(pid);
  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    // The guard goes first: later the process id may belong to somebody else.
    guard.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await end(child);
    await rm(join(folder, 'server.json'), { force: true });
  };
  return {
    pid,
    ended: () => {
      if (child.exitCode !== null) return `exit code ${child.exitCode}`;
      return child.signalCode === null ? null : `signal ${child.signalCode}`;
    },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
};

const end = async (child: ChildProcess): Promise<void> => {
  child.ref();
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
};

/** A killed predecessor may still be shutting down in this folder: wait for it, then insist. */
const stopLeftover = async (folder: string): Promise<void> => {
  const record = await readRecord(folder);
  if (record === null) return;
  if (await runs(record.server, record.command)) {
    if (record.owner !== process.pid && isAlive(record.owner)) {
      throw new Error(
        `${folder} is in use: process ${record.owner} runs ${record.command} there (process ${record.server})`,
      );
    }
    await stopStranger(record);
  }
  await rm(join(folder, 'server.json'), { force: true });
};

const stopStranger = async (record: Record): Promise<void> => {
  process.kill(record.server, 'SIGINT');
  const until = Date.now() + STOP_TIMEOUT_MS;
  while (await runs(record.server, record.command)) {
    if (Date.now() > until) process.kill(record.server, 'SIGKILL');
    await sleep(50);
  }
};

const readRecord = async (folder: string): Promise<Record | null> => {
  const text = await readFile(join(folder, 'server.json'), 'utf8').catch(() => '');
  if (text === '') return null;
  const parsed: unknown = JSON.parse(text);
  return isRecord(parsed) ? parsed : null;
};

const isRecord = (value: unknown): value is Record =>
  typeof value === 'object' &&
  value !== null &&
  'owner' in value &&
  typeof value.owner === 'number' &&
  'server' in value &&
  typeof value.server === 'number' &&
  'command' in value &&
  typeof value.command === 'string';

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/** Process ids are reused: the command line has to fit too, where the system shows it. A zombie's is empty. */
export const runs = async (pid: number, command: string): Promise<boolean> => {
  if (!isAlive(pid)) return false;
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  return line === null || line.includes(command);
};
