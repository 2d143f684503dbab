import { z } from 'zod';
import { projectNameSchema } from '../documents/task.ts';
import { jsonSchema } from '../json.ts';
import { gitSourceSchema, keptPathSchema } from '../workspace.ts';
import { documentSchema, idempotencyKeySchema } from './tasks.ts';

/**
 * Body of `POST /v1/escalations`: work that a producer could not finish. With a `task` that task is what is to be done;
 * without one, `project` says where it belongs, and it is cut into tasks or handed to a human.
 */
export const escalateSchema = z.strictObject({
  what: z.string().min(1).max(8192),
  stage: z.string().min(1).max(200),
  diagnosis: z.string().max(8192).default(''),
  findings: z.array(jsonSchema).max(200).default([]),
  /** Hash of an artifact with the diff so far, or that diff itself, which becomes an artifact. */
  diff: z
    .string()
    .min(1)
    .max(512 * 1024)
    .nullable()
    .default(null),
  /** The work, or the machinery: what is wrong with machines is never split and goes to a human. */
  about: z.enum(['work', 'machinery']).default('work'),
  /** The lineage out of which it came: while that goes on, the work becomes a child of it. */
  caused_by: z.string().min(1).max(200).nullable().default(null),
  task: documentSchema.optional(),
  project: projectNameSchema.optional(),
  mode: z.string().min(1).default('build'),
  workspace: z
    .strictObject({ git: gitSourceSchema.nullable().default(null), keep: z.array(keptPathSchema).default([]) })
    .optional(),
  idempotency_key: idempotencyKeySchema.nullish(),
});
export type Escalate = z.infer<typeof escalateSchema>;
export type EscalateInput = z.input<typeof escalateSchema>;

/** Body of `POST /v1/events`: a CloudEvent 1.0 in structured mode. Attributes that nobody reads here may be there. */
export const ingestedEventSchema = z.object({
  specversion: z.literal('1.0'),
  id: z.string().min(1).max(1000),
  /** With the id it says which event this is, however often it comes. */
  source: z.string().min(1).max(1000),
  type: z.literal('fixpoint.escalation'),
  data: escalateSchema,
});
export type IngestedEvent = z.infer<typeof ingestedEventSchema>;
