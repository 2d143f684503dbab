import { z } from 'zod';
import { runOutcomeSchema } from '../events/executor-events.ts';
import { helpSchema } from '../events/handoff-events.ts';
import { taskKindSchema } from '../events/run-kind.ts';
import { epicSchema, lineageStatusSchema, runStateSchema, taskStatusSchema } from './audit.ts';
import { handoffStatusSchema } from './audit-handoffs.ts';
import { parseCursorToken } from './cursor-token.ts';
import { deadLetterStatusSchema } from './dead-letters.ts';
import { providerStatusSchema } from './providers.ts';

/** Most rows that one page may carry. */
const MAX_PAGE = 1000;
const DEFAULT_PAGE = 100;

const storeCursor = z.string().refine((text) => parseCursorToken(text) !== null, 'not a cursor of this API');

const paging = {
  /** Rows per page, 1 to {@link MAX_PAGE}. */
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE),
  /** `next` of the page before. */
  cursor: z.string().max(400).optional(),
  /** `cursor` of a write or an event: the answer shows at least that much, or is 503 `read_behind` after some seconds. */
  after: storeCursor.optional(),
};
const lineage = z.string().optional();
const project = z.string().optional();

/** `GET /v1/audit/lineages`, newest first. */
export const lineagesQuerySchema = z.strictObject({
  ...paging,
  lineage,
  project,
  status: lineageStatusSchema.optional(),
  name: z.string().optional(),
});
export type LineagesQuery = z.infer<typeof lineagesQuerySchema>;

/** `GET /v1/audit/tasks`, newest first. */
export const tasksQuerySchema = z.strictObject({
  ...paging,
  lineage,
  project,
  task: z.string().optional(),
  status: taskStatusSchema.optional(),
  kind: taskKindSchema.optional(),
});
export type TasksQuery = z.infer<typeof tasksQuerySchema>;

/** `GET /v1/audit/epics`, newest first. */
export const epicsQuerySchema = z.strictObject({
  ...paging,
  lineage,
  task: z.string().optional(),
  status: epicSchema.shape.status.optional(),
});
export type EpicsQuery = z.infer<typeof epicsQuerySchema>;

/** `GET /v1/audit/runs`, newest first. */
export const runsQuerySchema = z.strictObject({
  ...paging,
  lineage,
  project,
  task: z.string().optional(),
  status: runStateSchema.optional(),
  outcome: runOutcomeSchema.optional(),
});
export type RunsQuery = z.infer<typeof runsQuerySchema>;

/** `GET /v1/audit/events`, in the order of the store. */
export const eventsQuerySchema = z.strictObject({
  ...paging,
  lineage,
  project,
  task: z.string().optional(),
  type: z.string().optional(),
  /** `outcome` of the event, where it has one. */
  status: z.string().optional(),
  /** Only events after this one (exclusive). */
  since: storeCursor.optional(),
});
export type EventsQuery = z.infer<typeof eventsQuerySchema>;

/** `GET /v1/audit/events/stream`. The header `Last-Event-ID` says where to go on, else `since`, else the start. */
export const eventStreamQuerySchema = z.strictObject({ lineage: z.string().min(1), since: storeCursor.optional() });
export type EventStreamQuery = z.infer<typeof eventStreamQuerySchema>;

/** `GET /v1/audit/handoffs`, newest first. */
export const handoffsQuerySchema = z.strictObject({
  ...paging,
  lineage,
  project,
  task: z.string().optional(),
  status: handoffStatusSchema.optional(),
  /** Of any of its causes. */
  help: helpSchema.optional(),
  /** Whether somebody looks after it now. */
  claimed: z.enum(['true', 'false']).optional(),
});
export type HandoffsQuery = z.infer<typeof handoffsQuerySchema>;

/** `GET /v1/audit/handoffs/:handoff`. */
export const handoffDetailQuerySchema = z.strictObject({ after: storeCursor.optional() });
export type HandoffDetailQuery = z.infer<typeof handoffDetailQuerySchema>;

/** `GET /v1/audit/providers`, the one that was heard of last first. */
export const providersQuerySchema = z.strictObject({ ...paging, status: providerStatusSchema.optional() });
export type ProvidersQuery = z.infer<typeof providersQuerySchema>;

/** `GET /v1/audit/dead-letters`, newest first. */
export const deadLettersQuerySchema = z.strictObject({
  ...paging,
  status: deadLetterStatusSchema.optional(),
  lineage,
  service: z.string().optional(),
  reader: z.string().optional(),
});
export type DeadLettersQuery = z.infer<typeof deadLettersQuerySchema>;

/** `GET /v1/audit/dead-letters/:letter`. */
export const deadLetterDetailQuerySchema = z.strictObject({ after: storeCursor.optional() });
export type DeadLetterDetailQuery = z.infer<typeof deadLetterDetailQuerySchema>;

/** `GET /v1/audit/lineages/:id`. */
export const lineageDetailQuerySchema = z.strictObject({ after: storeCursor.optional() });
export type LineageDetailQuery = z.infer<typeof lineageDetailQuerySchema>;
