import { z } from 'zod';
import { jsonSchema } from '../json.ts';
import { sha256Schema } from './define.ts';

/** What a producer knew of the work that it could not finish. */
export const escalationSchema = z.object({
  /** What is to be true. */
  what: z.string(),
  /** Where the producer was with it, in its own words: `review`, `contract-refresh`. */
  stage: z.string(),
  /** Why it stopped there; empty when it does not know. */
  diagnosis: z.string(),
  findings: z.array(jsonSchema),
  /** Artifact with the diff so far; null without one. */
  diff: sha256Schema.nullable(),
  /** The lineage out of which it came. */
  caused_by: z.string().nullable(),
});
export type Escalation = z.infer<typeof escalationSchema>;

export const originSchema = z.object({ kind: z.literal('escalation'), ...escalationSchema.shape });
