import type { DynamicModule } from '@nestjs/common';
import { type Running, type StartOptions, start } from './start.ts';

/** What to run: modules, or a function that first connects to what they are built on. */
export type Composition = readonly DynamicModule[] | (() => Promise<readonly DynamicModule[]>);

/** Time beyond the drain after which a stop that hangs is cut off, ms. */
const GRACE_MS = 5_000;
/** Of it, for sending what telemetry has left; and what is kept for the end itself. */
const FLUSH_MS = 3_000;
const EXIT_MS = 500;

interface Stop {
  isStopping: boolean;
  /** What there is to close so far. */
  created: Pick<Running, 'close'> | null;
}

const fail = ({ log }: StartOptions, message: string, error: unknown): never => {
  log.fatal({ err: error }, message);
  process.exit(1);
};

const stopOnSignals = (options: StartOptions): Stop => {
  const stop: Stop = { isStopping: false, created: null };
  const onSignal = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (stop.isStopping) process.exit(signal === 'SIGINT' ? 130 : 143);
    stop.isStopping = true;
    options.log.info({ signal }, 'signal received');
    setTimeout(() => fail(options, 'stopping took too long', null), options.drainMs + GRACE_MS).unref();
    const endMs = performance.now() + options.drainMs + GRACE_MS - EXIT_MS;
    const closed = stop.created?.close() ?? Promise.resolve();
    const flushed = closed.then(() =>
      options.telemetry?.stop(Math.min(FLUSH_MS, Math.max(0, endMs - performance.now()))),
    );
    flushed.then(
      () => process.exit(0),
      (error: unknown) => fail(options, 'stopping failed', error),
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return stop;
};

/**
 * Runs services as this process and owns its signals. SIGTERM or SIGINT: no new work, drain, exit 0; a deadline of
 * `drainMs` and 5 s cuts a hanging stop off with exit 1; a second signal exits at once with 143 or 130. What nobody
 * caught, and what fails while starting, is logged and exits 1.
 * @param name of the process, in its first log line.
 */
export const run = async (name: string, composition: Composition, options: StartOptions): Promise<void> => {
  process.on('uncaughtException', (error) => fail(options, 'uncaught exception', error));
  process.on('unhandledRejection', (error) => fail(options, 'unhandled rejection', error));
  const stop = stopOnSignals(options);
  options.log.info({ process: name, pid: process.pid, node: process.version }, 'starting');
  try {
    const modules = typeof composition === 'function' ? await composition() : composition;
    await start(modules, options, (created) => {
      stop.created = created;
    });
  } catch (error) {
    if (!stop.isStopping) fail(options, `${name} could not start`, error);
  }
};
