import { z } from 'zod';
import { decisionSchema, gitRefSchema, hintSchema, limitsSchema } from '../human-decision.ts';
import { documentSchema } from './tasks.ts';

/** Longest comment, characters. */
const MAX_COMMENT = 1_000_000;
const MOST_CHILDREN = 100;
const DAY_MS = 24 * 3_600_000;

const validatorsSchema = z.array(z.string().min(1)).min(1).optional();

/** What is asked for; the server adds what it binds to. */
export const askedDecisionSchema = z.discriminatedUnion('kind', [
  /** `from_node`: where to begin again; left out, with the node that stands still. */
  z.strictObject({ kind: z.literal('retry'), from_node: z.string().optional() }),
  /** A `task/v1` document; its nodes take the place of the unit's, from the first one that differs. */
  z.strictObject({ kind: z.literal('amend'), document: documentSchema }),
  /** `validators`: whose warnings are accepted; left out, all that the handoff shows. */
  z.strictObject({ kind: z.literal('approve'), validators: validatorsSchema }),
  /** Same for overridable blockers. */
  z.strictObject({ kind: z.literal('override'), validators: validatorsSchema }),
  z.strictObject({ kind: z.literal('split'), hint: hintSchema.optional() }),
  /** `ref`: of the lineage's source; the check is asked there. */
  z.strictObject({
    kind: z.literal('resolve'),
    ref: gitRefSchema.optional(),
    exclude_children: z.array(z.string().min(1)).max(MOST_CHILDREN).optional(),
  }),
  z.strictObject({ kind: z.literal('extend'), limits: limitsSchema }),
  z.strictObject({ kind: z.literal('abandon') }),
]);
export type AskedDecision = z.infer<typeof askedDecisionSchema>;

/** Body of `POST /v1/handoffs/{handoff}/decisions`. */
export const decideHandoffSchema = z.strictObject({
  /** The version of the handoff that was looked at. */
  version: z.int().positive(),
  decision: askedDecisionSchema,
  comment: z.string().min(1).max(MAX_COMMENT).optional(),
  /** The same id is the same decision, however often it is sent. */
  decision_id: z.uuid().optional(),
});
export type DecideHandoff = z.infer<typeof decideHandoffSchema>;

export const decideHandoffQuerySchema = z.strictObject({
  /** Says what would be stored, and stores nothing. */
  dry_run: z.enum(['true', 'false']).optional(),
});
export type DecideHandoffQuery = z.infer<typeof decideHandoffQuerySchema>;

/** An event that was stored, or would be. */
const decidedEventSchema = z.object({ type: z.string(), data: z.record(z.string(), z.unknown()) });

/** Answer to a decision. */
export const decidedHandoffSchema = z.object({
  handoff: z.string(),
  lineage: z.string(),
  decision_id: z.string(),
  decision: decisionSchema,
  dry_run: z.boolean(),
  /** False for a dry run, and for a decision that had been taken before. */
  changed: z.boolean(),
  /** What the decision led to at once, in order. */
  events: z.array(decidedEventSchema),
  /** Give it to a read as `after` to see this write; null for a dry run. */
  cursor: z.string().nullable(),
});
export type DecidedHandoff = z.infer<typeof decidedHandoffSchema>;

/** Body of `POST /v1/handoffs/{handoff}/claim`. */
export const claimHandoffSchema = z.strictObject({
  version: z.int().positive(),
  /** How long nobody else decides, ms. */
  for_ms: z.int().min(1_000).max(DAY_MS).default(3_600_000),
});
export type ClaimHandoff = z.infer<typeof claimHandoffSchema>;

/** Answer to a claim. */
export const claimedHandoffSchema = z.object({
  handoff: z.string(),
  lineage: z.string(),
  version: z.int().positive(),
  by: z.string(),
  until: z.string(),
  expires_at: z.string(),
  /** False when the same claim stood already. */
  changed: z.boolean(),
  cursor: z.string(),
});
export type ClaimedHandoff = z.infer<typeof claimedHandoffSchema>;
