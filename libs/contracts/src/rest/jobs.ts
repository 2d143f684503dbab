import { z } from 'zod';
import { queueNameSchema } from '../documents/task.ts';
import { scopeSchema } from '../events/scope.ts';
import { jsonSchema } from '../json.ts';

/** Longest that one question for a job waits for one, ms. */
export const LONGEST_WAIT_MS = 30_000;

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$/;

/** Body of `POST /v1/worker/leases`. */
export const leaseJobSchema = z.strictObject({
  queue: queueNameSchema,
  /** Names the process that works, beside the name of its key; for people. */
  worker: z.string().regex(namePattern, '1 to 63 letters, digits, dots, @, dashes or underscores'),
  /** How long the question may wait for a job. */
  wait_ms: z.int().min(0).max(LONGEST_WAIT_MS).default(0),
  /** The job is lost to this worker when it is not heard of for so long. */
  lease_ms: z.int().min(1_000).max(600_000).default(30_000),
});
export type LeaseJob = z.infer<typeof leaseJobSchema>;

/** What a worker is to do: one run of one node. */
export const jobRequestSchema = z.object({
  root: z.string(),
  task: z.string(),
  run: z.int().positive(),
  node_id: z.string(),
  scope: scopeSchema,
  goal: z.string(),
  /** The parameters of the recipe, every reference filled in. */
  with: z.record(z.string(), jsonSchema),
  /** The variables of the node. */
  env: z.record(z.string(), z.string()),
  /** The same for every run of this node: an effect outside is done once by whoever looks at it. */
  idempotency_key: z.string(),
  /** Lets this run hand in tasks, as `FIXPOINT_RUN_TOKEN` does for a command. */
  run_token: z.string(),
});
export type JobRequest = z.infer<typeof jobRequestSchema>;

/** Answer of a lease. */
export const leasedJobSchema = z.object({
  job: z.string(),
  /** Of this lease; every further word about the job says it. */
  epoch: z.int().positive(),
  queue: z.string(),
  lease_ms: z.int().positive(),
  /** What is left of the run's time, ms. */
  time_ms: z.int().nonnegative(),
  /** Whether there are files to be had as a tar archive; false for a task without a workspace. */
  has_workspace: z.boolean(),
  request: jobRequestSchema,
});
export type LeasedJob = z.infer<typeof leasedJobSchema>;

const epoch = z.int().positive();

export const heartbeatSchema = z.strictObject({
  epoch,
  /** For people who look on; the last one stays. */
  progress: z.string().max(2_000).optional(),
});
export type Heartbeat = z.infer<typeof heartbeatSchema>;

export const heartbeatAnswerSchema = z.object({ lease_ms: z.int().positive() });

/** Most that one text of a file may hold, characters: a body is at most 1 MiB. */
const MOST_TEXT = 900_000;

/** One change of one file. A path is below the workspace, `/` between parts, never in `.git`, never through a link. */
export const fileChangeSchema = z
  .strictObject({
    path: z.string().min(1).max(1_024),
    /** The content, or what is added to it. */
    text: z.string().max(MOST_TEXT).optional(),
    base64: z.base64().max(MOST_TEXT).optional(),
    /** The content is what comes after that of the file as it is: a big file is sent in pieces. */
    append: z.boolean().default(false),
    executable: z.boolean().optional(),
    delete: z.boolean().default(false),
  })
  .refine(
    (change) => [change.text !== undefined, change.base64 !== undefined, change.delete].filter(Boolean).length === 1,
    'says one of text, base64 and delete',
  );
export type FileChange = z.infer<typeof fileChangeSchema>;

const changes = {
  files: z.array(fileChangeSchema).max(1_000).default([]),
  /** As `git diff --binary` prints it, against the workspace as it was given out. */
  patch: z.string().min(1).max(MOST_TEXT).optional(),
};

/** What a worker did to the workspace: the patch first, then the files in their order. */
export const changesSchema = z.strictObject(changes);
export type Changes = z.infer<typeof changesSchema>;

/** Body of `POST …/files`: changes that lie ready until the result. */
export const sendFilesSchema = z.strictObject({ epoch, ...changes });
export type SendFiles = z.infer<typeof sendFilesSchema>;

const printed = z.string().max(65_536).default('');

/** Body of `POST …/result`. */
export const jobResultSchema = z.strictObject({
  epoch,
  /** The output of the node: what a command would print. */
  output: jsonSchema.default(null),
  exit_code: z.int().min(0).max(255).default(0),
  stdout: printed,
  stderr: printed,
  ...changes,
});
export type JobResult = z.infer<typeof jobResultSchema>;

/** Body of `POST …/fail`. */
export const jobFailureSchema = z.strictObject({
  epoch,
  reason: z.string().min(1).max(8_000),
  /** It says nothing about the work: the worker could not do its own. The run is tried again as after any such fault. */
  fault: z.boolean().default(false),
});
export type JobFailure = z.infer<typeof jobFailureSchema>;

export const releaseJobSchema = z.strictObject({ epoch });

export const epochQuerySchema = z.object({ epoch: z.coerce.number().int().positive() });

/** One line of `GET /v1/worker/jobs`. */
export const jobStateSchema = z.object({
  job: z.string(),
  queue: z.string(),
  root: z.string(),
  task: z.string(),
  run: z.int(),
  status: z.enum(['offered', 'leased', 'settled']),
  epoch: z.int().nonnegative(),
  worker: z.string().nullable(),
  progress: z.string().nullable(),
  offered_at: z.iso.datetime(),
});
export type JobState = z.infer<typeof jobStateSchema>;
