import { z } from 'zod';
import { onExpirySchema } from '../documents/protocol.ts';
import { helpSchema, stageSchema } from '../events/handoff-events.ts';
import { decisionKindSchema } from '../human-decision.ts';
import { haltTypeSchema } from '../verdict.ts';
import { recordedEventSchema } from './audit.ts';

/** `expired`: its time was over and the declared outcome followed; one that is kept stays `open`. */
export const handoffStatusSchema = z.enum(['open', 'decided', 'expired', 'withdrawn']);

const causeSchema = z.object({
  help: helpSchema,
  stage: stageSchema,
  halt_type: haltTypeSchema,
  raw_halt_type: z.string(),
  /** With `…` where it was cut; events have the whole. */
  detail: z.string(),
});

const isoTime = z.iso.datetime();

/** What a human is asked for: by a unit of a lineage, or by a provider (`handoff` and `lineage` are its stream, `project` is empty). */
export const handoffSchema = z.object({
  handoff: z.string(),
  lineage: z.string(),
  /** The unit that waits. */
  task: z.string(),
  address: z.string(),
  project: z.string(),
  status: handoffStatusSchema,
  /** A decision names it. */
  version: z.int().positive(),
  /** The oldest cause that is left. */
  ...causeSchema.shape,
  /** All that are left, oldest first. */
  causes: z.array(causeSchema),
  /** Smallest failing slice: its task, node and run; the last two null where it is about none. */
  slice_task: z.string(),
  node: z.string().nullable(),
  run: z.int().nullable(),
  goal: z.string(),
  /** What the unit had tried by then. */
  runs: z.int().nonnegative(),
  fix_attempts: z.int().nonnegative(),
  /** What the lineage had cost by then; null where it is not known. */
  money_micros: z.int().nonnegative().nullable(),
  tokens: z.int().nonnegative().nullable(),
  duration_ms: z.number().nullable(),
  lineage_runs: z.int().nonnegative().nullable(),
  /** What a human may do. */
  decisions: z.array(decisionKindSchema),
  /** Somebody looks after it now: nobody else decides it. */
  claimed: z.boolean(),
  /** Whoever claimed it last, and until when; null before. */
  claimed_by: z.string().nullable(),
  claimed_until: isoTime.nullable(),
  /** Percent of its life that people were warned of. */
  warned: z.int().min(0).max(99),
  /** Null for one that has no end. */
  expires_at: isoTime.nullable(),
  on_expiry: onExpirySchema,
  /** When its time was over; null before. */
  expired_at: isoTime.nullable(),
  /** Null until somebody decides. */
  decision: decisionKindSchema.nullable(),
  /** Who, or what, ended it; null while it is open. */
  closed_by: z.string().nullable(),
  opened_at: isoTime,
  closed_at: isoTime.nullable(),
  cursor: z.string(),
});
export type Handoff = z.infer<typeof handoffSchema>;

export const handoffPageSchema = z.object({ items: z.array(handoffSchema), next: z.string().nullable() });
export type HandoffPage = z.infer<typeof handoffPageSchema>;

/** Answer of `GET /v1/audit/handoffs/{handoff}`. */
export const handoffDetailSchema = z.object({
  ...handoffSchema.shape,
  /** Everything that was said of it, oldest first: the first one has what was tried, the verdicts and the evidence. */
  history: z.array(recordedEventSchema),
});
export type HandoffDetail = z.infer<typeof handoffDetailSchema>;
