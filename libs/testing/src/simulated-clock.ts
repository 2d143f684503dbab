import type { Clock } from '@fixpoint/contracts/clock';

/** A clock that stands still until a test moves it. */
export interface SimulatedClock extends Clock {
  /**
   * Moves time on. Whoever sleeps until then wakes in the order of the times it sleeps to; what it starts in turn (a next
   * sleep that also ends within `ms`) happens before this resolves.
   */
  advance(ms: number): Promise<void>;
  /** Ms until the next sleeper wakes; null when nobody sleeps. */
  nextWakeMs(): number | null;
}

interface Sleeper {
  readonly wakeMs: number;
  readonly wake: () => void;
}

/** Lets everything run that waits for nothing but promises. */
const settle = async (): Promise<void> => {
  await new Promise<void>((resolve) => setImmediate(resolve));
};

/** @param start wall-clock time at the beginning, ISO 8601. */
export const simulatedClock = (start = '2026-01-01T00:00:00.000Z'): SimulatedClock => {
  const startMs = Date.parse(start);
  const sleepers = new Set<Sleeper>();
  let elapsedMs = 0;

  const next = (): Sleeper | undefined => [...sleepers].sort((a, b) => a.wakeMs - b.wakeMs)[0];

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper: Sleeper = { wakeMs: elapsedMs + Math.max(0, ms), wake };
      sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  };

  const advance = async (ms: number): Promise<void> => {
    const until = elapsedMs + ms;
    await settle();
    for (let sleeper = next(); sleeper !== undefined && sleeper.wakeMs <= until; sleeper = next()) {
      elapsedMs = sleeper.wakeMs;
      sleeper.wake();
      await settle();
    }
    elapsedMs = until;
  };

  return {
    now: () => new Date(startMs + elapsedMs),
    monotonicMs: () => elapsedMs,
    sleep,
    advance,
    nextWakeMs: () => {
      const sleeper = next();
      return sleeper === undefined ? null : sleeper.wakeMs - elapsedMs;
    },
  };
};
