/** Waits before the 1st to 5th re-offer; after them the last one repeats. */
const WAITS_MS = [5_000, 30_000, 60_000, 120_000, 240_000] as const;

/** The longest wait between two offers, ms. */
export const LAST_WAIT_MS = 240_000;

/** What to do with an offer that nobody has answered. Times are milliseconds of one clock. */
export type HealerStep =
  | { readonly step: 'offer_again'; readonly atMs: number }
  /** The hop's own time is up: whoever waits takes it as no answer. */
  | { readonly step: 'time_out'; readonly atMs: number };

export interface Unanswered {
  /** When the first offer went out. */
  readonly sinceMs: number;
  /** When the latest offer went out; equals `sinceMs` before the first re-offer. */
  readonly lastOfferMs: number;
  /** Re-offers made so far; 0 after the first offer. */
  readonly reoffers: number;
  /** How long the hop may take: the sum of its validators' time-outs, the run's, the council's. */
  readonly timeoutMs: number;
}

/**
 * The next step for an unanswered offer: again after 5 s, 30 s, 1, 2 and 4 min, then every 4 min, until the hop's own
 * time-out. Waits count from the latest offer, so a sweep that came late does not make up for it with a volley.
 */
export const nextHealerStep = (offer: Unanswered): HealerStep => {
  const atMs = offer.lastOfferMs + (WAITS_MS[offer.reoffers] ?? LAST_WAIT_MS);
  const endMs = offer.sinceMs + offer.timeoutMs;
  return atMs < endMs ? { step: 'offer_again', atMs } : { step: 'time_out', atMs: endMs };
};
