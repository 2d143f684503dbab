import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath, env as own } from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const APP = fileURLToPath(new URL('./app.fixture.ts', import.meta.url));

/** A process of app.fixture.ts. */
export interface App {
  readonly child: ChildProcess;
  /** Messages logged so far. */
  readonly said: string[];
  /** Resolves with the log record that has this message. */
  readonly until: (message: string) => Promise<{ readonly url?: string }>;
  /** Exit code, or the signal that killed it. */
  readonly ended: Promise<number | string>;
}

/** @param env beside that of this process. */
export const startApp = (behaviour: string, env: Readonly<Record<string, string>> = {}): App => {
  const flags = ['--conditions=@fixpoint/source', '--disable-warning=ExperimentalWarning'];
  const child = spawn(execPath, [...flags, APP, behaviour], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...own, ...env },
  });
  const said: string[] = [];
  const records: { msg: string; url?: string }[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const record = JSON.parse(line);
    records.push(record);
    said.push(record.msg);
  });
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  const until = async (message: string): Promise<{ readonly url?: string }> => {
    for (;;) {
      const found = records.find((record) => record.msg === message);
      if (found !== undefined) return found;
      await Promise.race([
        once(lines, 'line'),
        ended.then((how) => Promise.reject(new Error(`ended with ${how} before it said "${message}"`))),
      ]);
    }
  };
  return { child, said, until, ended };
};
