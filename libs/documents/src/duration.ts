import { z } from 'zod';

const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const PATTERN = /^([0-9]{1,9})(ms|s|m|h)$/;
/** Longest duration that a timer of Node keeps (2^31 - 1 ms); about 24 days. */
const MAX_DURATION_MS = 2 ** 31 - 1;

/** Milliseconds of `500ms`, `30s`, `5m`, `1h`; null for anything else, for zero and for more than 24 days. */
export const durationMs = (text: string): number | null => {
  const [, digits, unit] = PATTERN.exec(text) ?? [];
  if (digits === undefined || !isUnit(unit)) return null;
  const ms = Number(digits) * UNITS_MS[unit];
  return ms > 0 && ms <= MAX_DURATION_MS ? ms : null;
};

const isUnit = (unit: string | undefined): unit is keyof typeof UNITS_MS => unit !== undefined && unit in UNITS_MS;

/** A duration as documents write it. */
export const durationSchema = z
  .string()
  .regex(PATTERN, { error: 'not a duration', abort: true })
  .refine((text) => durationMs(text) !== null, 'a duration is above 0 and at most 24 days')
  .meta({ id: 'duration', description: 'A whole number above 0 and a unit: 500ms, 30s, 5m, 1h.' });
