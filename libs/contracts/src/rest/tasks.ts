import { z } from 'zod';
import { jsonSchema } from '../json.ts';
import { diagnosticSchema, errorBodySchema } from './errors.ts';

/** Most tasks that one batch may carry. */
const MAX_BATCH = 1000;

/** A document as text (YAML or JSON: complaints then name line and column) or as a JSON object. */
export const documentSchema = z.union([z.string().min(1), z.record(z.string(), jsonSchema)]);
export type DocumentInput = z.infer<typeof documentSchema>;

/** The key makes the lineage's id: same key and same document, same lineage; other document, 409. */
export const idempotencyKeySchema = z.string().min(1).max(200);

export const submitTaskSchema = z.strictObject({
  /** A `task/v1` document. */
  document: documentSchema,
  idempotency_key: idempotencyKeySchema.nullable().optional(),
});
export type SubmitTask = z.infer<typeof submitTaskSchema>;

/** `POST /v1/tasks` with several documents: each is admitted or refused alone, answered in the order given. */
const submitBatchSchema = z.strictObject({ tasks: z.array(submitTaskSchema).min(1).max(MAX_BATCH) });
export type SubmitBatch = z.infer<typeof submitBatchSchema>;

/** Body of `POST /v1/tasks`. */
export const submitBodySchema = z.union([submitTaskSchema, submitBatchSchema]);
export type SubmitBody = z.infer<typeof submitBodySchema>;

/** Answer to one task: 202 when it was admitted by this request, 200 when it existed already. */
export const submittedSchema = z.object({
  /** Root of the lineage; also the id of the root task. */
  lineage: z.string(),
  /** The child that became of it; left out of what became a lineage of its own. */
  task: z.string().optional(),
  spec_hash: z.string(),
  /** False when the same key and document had been submitted before. */
  created: z.boolean(),
  /** Give it to a read as `after` to see this write. */
  cursor: z.string(),
  /** Warnings of the linter; errors refuse the document. */
  diagnostics: z.array(diagnosticSchema),
});
export type Submitted = z.infer<typeof submittedSchema>;

/** Answer to a batch: always 200, one result per task. `http_status` is what the task alone would have got. */
export const batchResultSchema = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('accepted'), http_status: z.int(), ...submittedSchema.shape }),
  z.object({ outcome: z.literal('refused'), http_status: z.int(), ...errorBodySchema.shape }),
]);
export type BatchResult = z.infer<typeof batchResultSchema>;

export const batchSubmittedSchema = z.object({ results: z.array(batchResultSchema) });
export type BatchSubmitted = z.infer<typeof batchSubmittedSchema>;
