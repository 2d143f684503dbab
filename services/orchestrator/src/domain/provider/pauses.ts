import type { AskingRun, ProviderFaultClass } from '@fixpoint/contracts/events/provider-events';
import { after } from '../lineage/backoff.ts';

/** A fault that counts towards a storm. */
export interface SeenFault {
  readonly class: ProviderFaultClass;
  readonly by: AskingRun;
  /** ISO 8601. */
  readonly at: string;
}

/** How long a fault counts. Source: docs/rules.md (Providers). */
const STORM_WINDOW_MS = 60_000;
const STORM_FAULTS = 5;
/** One lineage alone has its own back-off and its own end. */
const STORM_LINEAGES = 2;

const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 15 * 60_000;
/** How late a time that the provider names itself may be; then it is asked again. */
const LONGEST_RETRY_AFTER_MS = 60 * 60_000;
/** Pauses in a row that end by themselves: half an hour of them. The next one ends when a human says so. */
export const MOST_PAUSES = 7;
/** For so long after a pause has ended, a single fault is a relapse. */
const RELAPSE_MS = 15 * 60_000;

const ageMs = (at: string, now: string): number => Date.parse(now) - Date.parse(at);

/** Faults that still count, the oldest first. */
export const recent = (faults: readonly SeenFault[], now: string): readonly SeenFault[] =>
  faults.filter(({ at }) => ageMs(at, now) < STORM_WINDOW_MS);

/** Five faults of one class, of at least two lineages, within a minute. */
export const isStorm = (faults: readonly SeenFault[], newest: SeenFault): boolean => {
  const alike = recent(faults, newest.at).filter((fault) => fault.class === newest.class);
  return alike.length >= STORM_FAULTS && new Set(alike.map(({ by }) => by.root)).size >= STORM_LINEAGES;
};

export const isRelapse = (resumedAt: string, now: string): boolean => ageMs(resumedAt, now) < RELAPSE_MS;

export interface PauseLength {
  /** Pauses in a row, this one included. */
  readonly count: number;
  readonly retryAfterMs: number;
  /** From 0 to below 1: what was paused in the same moment is not asked in the same moment. */
  readonly jitter: number;
  readonly now: string;
}

/**
 * When the provider may be probed: after twice as long each time, up to a quarter of an hour, less up to a fifth, and
 * never before the time that it named. Null: when a human says so.
 */
export const pausedUntil = ({ count, retryAfterMs, jitter, now }: PauseLength): string | null => {
  if (count > MOST_PAUSES) return null;
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1));
  const pauseMs = Math.round(longest * (1 - jitter / 5));
  return after(now, Math.max(pauseMs, Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)));
};
