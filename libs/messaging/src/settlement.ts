import type { Offer, Verdict } from './bus.ts';

/** An offer that comes back as a message of its own, for the same reader only. */
export interface Retry {
  readonly offer: Offer;
  /** Failures counted so far. */
  readonly failures: number;
  readonly delayMs: number;
}

export interface DeadOffer {
  readonly offer: Offer;
  readonly deliveries: number;
  readonly error: string;
}

/** What becomes of a message once its offers have their verdicts. */
export interface Settlement {
  /** Null: the message is acked, after the retries are out. Else the whole message comes again after this. */
  readonly nakMs: number | null;
  readonly retries: readonly Retry[];
  readonly dead: readonly DeadOffer[];
}

/** What was offered, what was said to it, and the reader's rules. */
export interface Answered {
  readonly offers: readonly Offer[];
  /** One per offer, in order. */
  readonly verdicts: readonly Verdict[];
  /** Failures counted before; more than 0 only for a message of one offer. */
  readonly failures: number;
  readonly maxFailures: number;
  /** Wait before the next delivery of an offer that failed `failures` times. */
  failureDelayMs(failures: number): number;
}

/**
 * Decides what becomes of a message. Offers that are not done leave it one by one, so that the done ones are not
 * offered again; only when none got on does the message come back as it is, with its count untouched.
 */
export const settle = (answered: Answered): Settlement => {
  const delays = answered.verdicts.flatMap((said) => (said.verdict === 'later' ? [said.delayMs] : []));
  if (delays.length === answered.offers.length) return { nakMs: Math.max(...delays), retries: [], dead: [] };
  const retries: Retry[] = [];
  const dead: DeadOffer[] = [];
  for (const [index, offer] of answered.offers.entries()) {
    const said = answered.verdicts[index];
    if (said?.verdict === 'later') retries.push({ offer, failures: answered.failures, delayMs: said.delayMs });
    if (said?.verdict !== 'failed') continue;
    const failures = answered.failures + 1;
    if (failures >= answered.maxFailures || said.isFinal === true)
      dead.push({ offer, deliveries: failures, error: said.error });
    else retries.push({ offer, failures, delayMs: answered.failureDelayMs(failures) });
  }
  return { nakMs: null, retries, dead };
};

const FIRST_FAILURE_MS = 1_000;
const LONGEST_MS = 30_000;

/** 1 s, doubled per failure, at most 30 s. */
export const failureDelay = (failures: number): number => Math.min(LONGEST_MS, FIRST_FAILURE_MS * 2 ** (failures - 1));

/** Wait of a reader whose handler threw `throws` times in a row: 250 ms, doubled, at most 30 s. */
export const pauseDelay = (throws: number): number => Math.min(LONGEST_MS, 250 * 2 ** (throws - 1));
