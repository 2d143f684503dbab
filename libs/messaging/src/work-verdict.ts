import { UnreadableEvent } from '@fixpoint/contracts/events/parse-event';
import type { Offer, Verdict } from './bus.ts';
import type { StopReason } from './owned-work.ts';

/** Until an offer that found no slot comes again, here or where there is room. */
const NO_SLOT_MS = 250;

/** What becomes of an offer whose work was stopped: nothing may be said about it by this process. */
export const workVerdict = (reason: StopReason): Verdict => {
  if (reason === 'shutdown') return { verdict: 'later', delayMs: 0, reason: 'shutting down' };
  return reason === 'no_slot' ? { verdict: 'later', delayMs: NO_SLOT_MS, reason } : { verdict: 'done' };
};

/**
 * The message's own fault. What nobody can read, in whatever release, need not be offered again to find that out: an event
 * whose data its own schema refuses, of a version from before, or of a type that this reader was never subscribed to.
 */
export const failedBy = (error: Error, { event }: Pick<Offer, 'event'>): Verdict => ({
  verdict: 'failed',
  error: error.message,
  isFinal:
    error instanceof UnreadableEvent &&
    (error.isFinal || (error.code === 'event_type_unknown' && error.event === event.id)),
});

/** For work that is over before anybody could stop it. */
export const NEVER: AbortSignal = new AbortController().signal;
