import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';

/** For modes that name neither the class nor `default`. */
const SECOND = [1_000] as const;

/** The delay in ms before the `attempt`-th try (1-based) after a failure of this class; the last one repeats. */
export const backoffMs = (mode: ModeSpec, name: string, attempt: number): number => {
  const delays = mode.backoffs[name] ?? mode.backoffs.default ?? SECOND;
  return delays[Math.min(attempt, delays.length) - 1] ?? SECOND[0];
};

/** @returns ISO time `ms` after `now`. */
export const after = (now: string, ms: number): string => new Date(Date.parse(now) + ms).toISOString();
