import { z } from 'zod';
import { recordedEventSchema } from './audit.ts';

/** `replayed`: given back to its reader, which has not given it up again. */
export const deadLetterStatusSchema = z.enum(['parked', 'replayed', 'discarded']);
export type DeadLetterStatus = z.infer<typeof deadLetterStatusSchema>;

/** Body of `POST /v1/dead-letters/{letter}/replay`. */
export const replayDeadLetterSchema = z.strictObject({
  /** Also when it was replayed before and has not come back: for an offer that was lost. */
  again: z.boolean().default(false),
});
export type ReplayDeadLetter = z.infer<typeof replayDeadLetterSchema>;

/** Body of `POST /v1/dead-letters/{letter}/discard`. */
export const discardDeadLetterSchema = z.strictObject({ reason: z.string().max(2_000).default('') });
export type DiscardDeadLetter = z.infer<typeof discardDeadLetterSchema>;

/** Answer to both. */
export const handledDeadLetterSchema = z.object({
  letter: z.string(),
  status: deadLetterStatusSchema,
  deliveries: z.int().positive(),
  replays: z.int().nonnegative(),
  /** False when it was so already. */
  changed: z.boolean(),
  /** Give it to a read as `after` to see this write. */
  cursor: z.string(),
});
export type HandledDeadLetter = z.infer<typeof handledDeadLetterSchema>;

/** One event that one reader gave up. */
export const deadLetterSchema = z.object({
  letter: z.string(),
  status: deadLetterStatusSchema,
  service: z.string(),
  reader: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  event_version: z.int(),
  /** Null for an event outside a lineage, or one too broken to tell. */
  lineage: z.string().nullable(),
  task: z.string().nullable(),
  run: z.int().nullable(),
  /** Failed deliveries, all replays included. */
  deliveries: z.int().positive(),
  replays: z.int().nonnegative(),
  /** Why the reader gave it up, the last time. */
  reason: z.string(),
  /** Who replayed or discarded it last; null before. */
  actor: z.string().nullable(),
  /** Why it was discarded; null when it was not. */
  discarded_because: z.string().nullable(),
  parked_at: z.iso.datetime(),
  changed_at: z.iso.datetime(),
  cursor: z.string(),
});
export type DeadLetterRow = z.infer<typeof deadLetterSchema>;

export const deadLetterPageSchema = z.object({ items: z.array(deadLetterSchema), next: z.string().nullable() });
export type DeadLetterPage = z.infer<typeof deadLetterPageSchema>;

/** Answer of `GET /v1/audit/dead-letters/{letter}`. */
export const deadLetterDetailSchema = z.object({
  ...deadLetterSchema.shape,
  /** What was given up, as stored; null when the store does not have it. */
  event: recordedEventSchema.nullable(),
  /** Every step, oldest first. */
  history: z.array(recordedEventSchema),
});
export type DeadLetterDetail = z.infer<typeof deadLetterDetailSchema>;
