import type { TimerRow, Waiting } from './wait-rows.ts';

/** A claimed row that is not settled may be claimed again after this long: whoever had it has crashed. */
export const CLAIM_MS = 30_000;

/**
 * What all lineages wait for, and their timers: a projection of the log that several processes work off together. Times
 * are compared by the clock of whoever keeps the rows. Every adapter passes `waits.contract.ts`.
 */
export interface Waits {
  /** One round of following the log; waits for news when there are none. For a loop. */
  keep(signal: AbortSignal): Promise<void>;
  /** Rows that are due, at most `limit`; nobody else gets them for {@link CLAIM_MS}. */
  claimWaiting(limit: number): Promise<readonly Waiting[]>;
  /** Notes an offer, and when to look again. Nothing happens to a row that has moved on meanwhile. */
  reschedule(row: Waiting, next: Pick<Waiting, 'reoffers' | 'last_offer' | 'next_at'>): Promise<void>;
  /** Same for timers. */
  claimTimers(limit: number): Promise<readonly TimerRow[]>;
  /** The timer has done its work: it never rings again. */
  fired(timer: TimerRow): Promise<void>;
}
