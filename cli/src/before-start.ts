import { createServer } from 'node:net';
import { EXIT, Exit } from './exit-codes.ts';
import { type InstallationFile, installationIn } from './installation-file.ts';

/** Where a local installation listens. */
export const HOST = '127.0.0.1';

export interface Start {
  /** Its data folder; absolute. */
  readonly folder: string;
  /** That were asked for. */
  readonly ports: readonly number[];
}

/** Finds out, before anything is created, whether an installation could start. @throws {Exit} when it could not */
export const checkStart = async ({ folder, ports }: Start): Promise<void> => {
  // A damaged file is written anew by whoever starts.
  const known = await installationIn(folder).catch(() => null);
  if (known !== null && (await isRunning(known))) {
    throw new Exit(EXIT.failed, `already running at ${known.write_url}`, 'Ctrl-C where it was started stops it');
  }
  for (const port of ports) await checkPort(port);
};

/** The file outlives a killed process, and its port may be somebody else's by then. */
const isRunning = async ({ write_url, pid }: InstallationFile): Promise<boolean> =>
  (pid === undefined || isAlive(pid)) && (await isInstallation(write_url));

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of somebody else is alive, too.
    return codeOf(error) === 'EPERM';
  }
};

const ANSWER_MS = 2_000;

/** Whether an installation answers at an address. */
const isInstallation = async (url: string): Promise<boolean> => {
  try {
    const answer = await fetch(new URL('/health/live', url), { signal: AbortSignal.timeout(ANSWER_MS) });
    const health: unknown = await answer.json();
    return typeof health === 'object' && health !== null && 'live' in health;
  } catch {
    return false;
  }
};

const checkPort = async (port: number): Promise<void> => {
  const problem = await problemOf(port);
  if (problem === null) return;
  if (problem !== 'EADDRINUSE') throw new Exit(EXIT.failed, `port ${port} can not be used (${problem})`, ANOTHER_PORT);
  const who = (await isInstallation(`http://${HOST}:${port}`)) ? 'another Fixpoint installation' : 'another program';
  throw new Exit(EXIT.failed, `port ${port} is taken: ${who} listens there`, ANOTHER_PORT);
};

const ANOTHER_PORT = 'choose another one with --port; 0 takes any that is free';

/** Why nobody could listen on a port, as an error code of the system; null when it is free. */
const problemOf = (port: number): Promise<string | null> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(codeOf(error)));
    server.listen(port, HOST, () => server.close(() => resolve(null)));
  });

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error);
