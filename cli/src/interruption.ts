import { EXIT } from './exit-codes.ts';

/** Ctrl-C (or SIGTERM) as a signal that a command can wait for. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Resolves at the first one. */
  readonly happened: Promise<void>;
  /** Gives the signals back. */
  release(): void;
}

/** The first signal is a request to stop; the second ends the process at once: guards stop what it had started. */
export const interruption = (): Interruption => {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
    resolve();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    happened: promise,
    release: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
};
