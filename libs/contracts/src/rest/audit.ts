import { z } from 'zod';
import { cursorSchema, metadataSchema } from '../envelope.ts';
import { rungSchema, runOutcomeSchema } from '../events/executor-events.ts';
import { runKindSchema, taskKindSchema } from '../events/run-kind.ts';
import { judgementOutcomeSchema } from '../events/validator-events.ts';
import { jsonSchema } from '../json.ts';
import { haltTypeSchema } from '../verdict.ts';

const isoTime = z.iso.datetime();
const halt = { halt_type: haltTypeSchema.nullable(), raw_halt_type: z.string().nullable() };

/** `running` is the only one that still moves; `human` waits for a person with every unit that has not ended. */
export const lineageStatusSchema = z.enum([
  'running',
  'completed',
  'degraded',
  'blocked',
  'cancelled',
  'abandoned',
  'human',
]);
export type LineageStatus = z.infer<typeof lineageStatusSchema>;

/** One lineage. Texts are shown safely: NUL as U+2400, lone surrogates as U+FFFD; events keep the exact text. */
export const lineageSchema = z.object({
  lineage: z.string(),
  project: z.string(),
  mode: z.string(),
  name: z.string(),
  goal: z.string(),
  labels: z.record(z.string(), z.string()),
  status: lineageStatusSchema,
  ...halt,
  /** Deepest fix so far: 0 without one. */
  depth: z.int().nonnegative(),
  fix_attempts: z.int().nonnegative(),
  /** Null when the bound is not known here. */
  fix_attempts_left: z.int().nonnegative().nullable(),
  /** Children made so far, by splits and by runs. */
  children: z.int().nonnegative(),
  /** Null when the bound is not known here. */
  children_left: z.int().nonnegative().nullable(),
  /** Deepest split so far: 0 without one. */
  split_depth: z.int().nonnegative(),
  /** Handoffs that are open in it. */
  open_handoffs: z.int().nonnegative(),
  /** Spent on models so far: millionths of the protocol's currency, and tokens. */
  money_micros: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
  runs: z.int().nonnegative(),
  /** Events of the whole lineage, all streams. */
  events: z.int().nonnegative(),
  /** Highest rung that any run needed: `none` before the first. */
  rung: rungSchema,
  /** Protocol the lineage is pinned to: `name@version`. */
  protocol: z.string(),
  started_at: isoTime,
  ended_at: isoTime.nullable(),
  deadline_at: isoTime,
  /** Of the newest event that this row shows. */
  cursor: z.string(),
});
export type Lineage = z.infer<typeof lineageSchema>;

/**
 * `exhausted` and `stalled` end a recovery (of a unit: the stall pipeline follows; of a fix: it failed). `superseded`: its
 * children do the work.
 */
export const taskStatusSchema = z.enum([
  'running',
  'superseded',
  'cancelled',
  'abandoned',
  'completed',
  'degraded',
  'blocked',
  'human',
  'exhausted',
  'stalled',
]);
export type TaskStatus = z.infer<typeof taskStatusSchema>;

/** A node whose condition did not hold. */
const skippedNodeSchema = z.object({
  node: z.string(),
  /** CEL, as in the task. */
  condition: z.string(),
  /** Runs of the task before it. */
  runs: z.int().nonnegative(),
});

export const taskSchema = z.object({
  lineage: z.string(),
  task: z.string(),
  /** Place in the lineage: `0`, `0~1`, … */
  address: z.string(),
  /** Null for the root. */
  parent: z.string().nullable(),
  kind: taskKindSchema,
  project: z.string(),
  name: z.string(),
  goal: z.string(),
  status: taskStatusSchema,
  ...halt,
  /** Rung of the newest run; `none` before the first. */
  rung: rungSchema,
  depth: z.int().nonnegative(),
  /** Fix tasks spawned in this task's closure so far; 0 for a fix. */
  fix_attempts: z.int().nonnegative(),
  runs: z.int().nonnegative(),
  /** Split links up to the root; of a fix: its unit's. */
  split_depth: z.int().nonnegative(),
  /** The epic that its children belong to; null when it was not split. */
  epic: z.string().nullable(),
  /** Rank of a unit; 0 for a fix. */
  affinity: z.int(),
  /** None for a container, which is done when its children are. */
  nodes: z.int().nonnegative(),
  /** Node of the newest run; null before the first. */
  node: z.string().nullable(),
  /** In the order of the task. */
  skipped: z.array(skippedNodeSchema),
  /** Its result as JSON, with `…` where it was cut; null before its end, or when it has none. Events have the whole. */
  output: z.string().nullable(),
  /** Artifact with the result, where it was too large for an event. */
  output_artifact: z.string().nullable(),
  /** Validators that made this fix; empty for the root. */
  triggering_validators: z.array(z.string()),
  started_at: isoTime,
  ended_at: isoTime.nullable(),
  cursor: z.string(),
});
export type Task = z.infer<typeof taskSchema>;

/** Where a run stands; the last five are ends. */
export const runStateSchema = z.enum([
  'ready',
  'gated',
  'executing',
  'executed',
  'judged',
  'blocked',
  'faulted',
  'refused',
  'revoked',
]);
export type RunState = z.infer<typeof runStateSchema>;

/** One verdict in short; the whole is in the event. */
export const verdictSummarySchema = z.object({
  validator: z.string(),
  severity: z.string(),
  error: z.boolean(),
  justification: z.string(),
});
export type VerdictSummary = z.infer<typeof verdictSummarySchema>;

export const runSchema = z.object({
  lineage: z.string(),
  task: z.string(),
  run: z.int().positive(),
  /** Of the task. */
  address: z.string(),
  project: z.string(),
  kind: runKindSchema,
  purpose: z.string(),
  node: z.string(),
  state: runStateSchema,
  /** What the executor said; null before. */
  outcome: runOutcomeSchema.nullable(),
  rung: rungSchema,
  exit_code: z.int().nullable(),
  /** Commands, checks and primitives run so far. */
  tools: z.int().nonnegative(),
  /** Spent by the executor, ms; null before its end. */
  duration_ms: z.number().nullable(),
  detail: z.string(),
  /** What the validator said of the result; null when it was not judged. */
  judgement: judgementOutcomeSchema.nullable(),
  verdicts: z.array(verdictSummarySchema),
  ...halt,
  started_at: isoTime,
  ended_at: isoTime.nullable(),
  cursor: z.string(),
});
export type Run = z.infer<typeof runSchema>;

/** An event as stored: `data` is the stored JSON, nothing replaced. */
export const recordedEventSchema = z.object({
  id: z.string(),
  root: z.string(),
  stream: z.string(),
  version: z.int().positive(),
  cursor: cursorSchema,
  type: z.string(),
  schema_version: z.int(),
  data: jsonSchema,
  metadata: metadataSchema,
  occurred_at: z.string(),
  hash: z.string(),
});

/** A page; `next` goes into `cursor` of the next request and is null on the last page. */
const pageOf = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item), next: z.string().nullable() });

export const lineagePageSchema = pageOf(lineageSchema);
export type LineagePage = z.infer<typeof lineagePageSchema>;
export const taskPageSchema = pageOf(taskSchema);
export type TaskPage = z.infer<typeof taskPageSchema>;
export const runPageSchema = pageOf(runSchema);
export type RunPage = z.infer<typeof runPageSchema>;
export const eventPageSchema = pageOf(recordedEventSchema);
export type EventPage = z.infer<typeof eventPageSchema>;

/** What a split made of a unit. */
export const epicSchema = z.object({
  epic: z.string(),
  lineage: z.string(),
  /** The unit that was split. */
  task: z.string(),
  address: z.string(),
  kind: z.enum(['split', 'container']),
  closes_by: z.enum(['recompose', 'rollup']),
  status: z.enum(['open', 'recomposing', 'closed']),
  children: z.array(
    z.object({
      task: z.string(),
      address: z.string(),
      name: z.string(),
      salvage: z.boolean(),
      state: z.enum(['open', 'resolved', 'excluded']),
      /** Merges of it that failed. */
      conflicts: z.int().nonnegative(),
    }),
  ),
  /** Children that are neither resolved nor excluded. */
  open_children: z.int().nonnegative(),
  /** Failed recomposes. */
  attempts: z.int().nonnegative(),
  /** When it is recomposed again; null when nothing waits for time. */
  next_at: isoTime.nullable(),
  split_depth: z.int().positive(),
  opened_at: isoTime,
  closed_at: isoTime.nullable(),
  cursor: z.string(),
});
export type Epic = z.infer<typeof epicSchema>;
export const epicPageSchema = pageOf(epicSchema);
export type EpicPage = z.infer<typeof epicPageSchema>;

/** A task with its fixes and children, in order of their making. */
export interface TaskTree extends Task {
  readonly children: TaskTree[];
}
export const taskTreeSchema: z.ZodType<TaskTree> = z.object({
  ...taskSchema.shape,
  get children() {
    return z.array(taskTreeSchema);
  },
});

/** Answer of `GET /v1/audit/lineages/:id`. */
export const lineageDetailSchema = z.object({ ...lineageSchema.shape, tree: taskTreeSchema });
export type LineageDetail = z.infer<typeof lineageDetailSchema>;
