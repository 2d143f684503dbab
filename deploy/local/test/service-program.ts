import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Service } from './installation.ts';

/** One service process, started as its image starts it. */
export interface ServiceProgram {
  readonly pid: number;
  /** Its JSON log so far. */
  log(): string;
  /** Null while it runs. */
  exitCode(): number | null;
  /** @returns the exit code, or null after a signal. */
  ended(): Promise<number | null>;
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): void;
}

/** @param env beside PATH; FIXPOINT_HOST stays loopback unless it says otherwise. */
export const startService = (service: Service, env: Readonly<Record<string, string>>): ServiceProgram => {
  const main = fileURLToPath(new URL(`../../../services/${service}/dist/main.js`, import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = collect(child);
  const exited = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    log: () => text.join(''),
    exitCode: () => child.exitCode,
    ended: async () => {
      await exited;
      return child.exitCode;
    },
    signal: (name) => void child.kill(name),
  };
};

const collect = ({ stdout, stderr }: ChildProcess): string[] => {
  const text: string[] = [];
  for (const stream of [stdout, stderr]) stream?.setEncoding('utf8').on('data', (chunk: string) => text.push(chunk));
  return text;
};
