import type { Clock } from '@fixpoint/contracts/clock';

const FIRST_MS = 200;
const LONGEST_MS = 30_000;

/** Waiting time after the nth failure in a row (1-based): 200 ms, doubling, at most 30 s. */
export const backoffMs = (failures: number): number => Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 20));

interface RetryOptions {
  readonly clock: Clock;
  /** Told of each failure before the wait. */
  readonly onFailure: (error: unknown, waitMs: number) => void;
  readonly signal: AbortSignal;
  /** Gives up when the next try would begin later than this after the first; infinite by default. */
  readonly withinMs?: number;
}

/**
 * Tries until it succeeds, with growing waits.
 * @throws the last error when `withinMs` is used up; the signal's reason when it aborts.
 */
export const retry = async <T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> => {
  const startMs = options.clock.monotonicMs();
  for (let failures = 1; ; failures += 1) {
    options.signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      const waitMs = backoffMs(failures);
      const spentMs = options.clock.monotonicMs() - startMs;
      if (spentMs + waitMs > (options.withinMs ?? Number.POSITIVE_INFINITY)) throw error;
      options.onFailure(error, waitMs);
      await options.clock.sleep(waitMs, options.signal);
    }
  }
};
