import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { startGuard } from '@fixpoint/backing-services/guard';
import type { Clock } from '@fixpoint/contracts/clock';

export interface ChildProgram {
  readonly name: string;
  /** Module that Node runs. */
  readonly main: string;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  /** Told of every end that nobody asked for. */
  onExit(name: string, how: string): void;
}

export interface Supervised {
  readonly name: string;
  /** Of the process that runs now; it changes with each restart. Null while there is none. */
  pid(): number | null;
  /** SIGTERM, then the wait for its end; not started again. SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

const RESTART_MS = [100, 500, 1_000, 2_000, 5_000];
/** Events are short-lived objects: with more room for the young ones the collector takes a tenth less time under load. */
const NODE_FLAGS = ['--max-semi-space-size=32'];
/** A process that lived so long has started well: the next restart is quick again. */
const SETTLED_MS = 10_000;

/**
 * Runs one program and starts it again, with a growing delay, whenever it ends by itself. It has a session of its own,
 * so that Ctrl-C in a terminal reaches only us and it is asked to stop once; a guard stops it when this process is gone.
 */
export const supervise = (program: ChildProgram, { clock, onExit }: SupervisorOptions): Supervised => {
  const stopping = new AbortController();
  let child: ChildProcess | null = null;
  let quickEnds = 0;

  const runOnce = async (): Promise<void> => {
    const startedAt = clock.monotonicMs();
    child = spawn(process.execPath, [...NODE_FLAGS, program.main], {
      env: program.env,
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    const exited = once(child, 'exit');
    await once(child, 'spawn');
    const guard = startGuard(child.pid ?? 0);
    const [code, signal] = (await exited) as [number | null, string | null];
    guard.kill('SIGKILL');
    child = null;
    if (stopping.signal.aborted) return;
    onExit(program.name, signal ?? `exit code ${code}`);
    quickEnds = clock.monotonicMs() - startedAt > SETTLED_MS ? 0 : quickEnds + 1;
    await clock.sleep(RESTART_MS[Math.min(quickEnds, RESTART_MS.length) - 1] ?? 0, stopping.signal);
  };
  const running = (async () => {
    while (!stopping.signal.aborted) await runOnce();
  })();

  return {
    name: program.name,
    pid: () => child?.pid ?? null,
    stop: async (graceMs) => {
      stopping.abort();
      child?.kill('SIGTERM');
      const timer = setTimeout(() => child?.kill('SIGKILL'), graceMs);
      await running;
      clearTimeout(timer);
    },
  };
};
