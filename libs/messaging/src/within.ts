import type { Clock } from '@fixpoint/contracts/clock';

/** Waits for a promise, but not longer than `ms`. False when it took longer; a rejection in time is thrown. */
export const within = async (clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> => {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then(() => false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    over.abort();
  }
};
