import { LAST_WAIT_MS, nextHealerStep } from '@fixpoint/messaging/healer';
import type { Waiting } from '../waits/wait-rows.ts';

/** Nobody is given up whom we have not asked just before: after an outage every offer is old. */
const LAST_CALL_MS = 30_000;

export type HealStep =
  | { readonly step: 'offer' | 'wait'; readonly next: Pick<Waiting, 'reoffers' | 'last_offer' | 'next_at'> }
  | { readonly step: 'give_up' };

type Unanswered = Pick<Waiting, 'since' | 'last_offer' | 'reoffers'>;

/** What to do with a row now. Pure. */
export const healStep = (row: Unanswered, timeoutMs: number, nowMs: number): HealStep => {
  const due = scheduled(row, timeoutMs);
  if (due.atMs > nowMs) return { step: 'wait', next: { ...kept(row), next_at: iso(due.atMs) } };
  if (due.step === 'offer_again') return offered(row, timeoutMs, nowMs);
  const silentMs = nowMs - Date.parse(row.last_offer);
  if (row.reoffers === 0 || silentMs >= 2 * LAST_CALL_MS) {
    return { step: 'offer', next: { ...asked(row, nowMs), next_at: iso(nowMs + LAST_CALL_MS) } };
  }
  if (silentMs >= LAST_CALL_MS) return { step: 'give_up' };
  return { step: 'wait', next: { ...kept(row), next_at: iso(nowMs - silentMs + LAST_CALL_MS) } };
};

const offered = (row: Unanswered, timeoutMs: number, nowMs: number): HealStep => {
  const next = asked(row, nowMs);
  return { step: 'offer', next: { ...next, next_at: iso(scheduled({ ...row, ...next }, timeoutMs).atMs) } };
};

/** Nothing comes of it for now: looked at again as seldom as anything is. Pure. */
export const laterLook = (row: Unanswered, nowMs: number): Pick<Waiting, 'reoffers' | 'last_offer' | 'next_at'> => ({
  ...kept(row),
  next_at: iso(nowMs + LAST_WAIT_MS),
});

const scheduled = ({ since, last_offer, reoffers }: Unanswered, timeoutMs: number) =>
  nextHealerStep({ sinceMs: Date.parse(since), lastOfferMs: Date.parse(last_offer), reoffers, timeoutMs });

const kept = ({ reoffers, last_offer }: Unanswered) => ({ reoffers, last_offer });
const asked = ({ reoffers }: Unanswered, nowMs: number) => ({ reoffers: reoffers + 1, last_offer: iso(nowMs) });
const iso = (ms: number): string => new Date(ms).toISOString();
