import { z } from 'zod';

/** Rank of queued work: affinity above 0, at 0, and below 0 down to the viability threshold. */
export const queueClassSchema = z.enum(['high', 'normal', 'low']);
export type QueueClass = z.infer<typeof queueClassSchema>;

/** At most `limit` runs are in flight under one key, whichever lineages they belong to. */
export const concurrencySchema = z.strictObject({
  key: z.string().regex(/^[a-z0-9][a-z0-9_.:/-]{0,199}$/, 'lower-case letters, digits and `_.:/-`, at most 200'),
  limit: z.int().min(1).max(1_000),
});
export type Concurrency = z.infer<typeof concurrencySchema>;

/** Why a run did not start at once. */
export const queuedForSchema = z.enum(['window', 'concurrency', 'provider', 'rank', 'budget']);
export type QueuedFor = z.infer<typeof queuedForSchema>;

/** What a queued run has beside what it will be run with. */
export const queueFields = {
  unit: z.string(),
  project: z.string(),
  class: queueClassSchema,
  /** Of the unit, when the run was queued. */
  affinity: z.int(),
  concurrency: concurrencySchema.nullable(),
  /** Models and hosts that the run can not do without: while one of them is paused, it waits. */
  providers: z.array(z.string()),
  queued_for: queuedForSchema,
  /** ISO 8601. */
  since: z.string(),
};
