import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@fixpoint/contracts/clock';

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    if (signal?.aborted) return;
    await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  },
};
