import {
  epicPageSchema,
  eventPageSchema,
  lineageDetailSchema,
  lineagePageSchema,
  runPageSchema,
  taskPageSchema,
  taskTreeSchema,
} from '@fixpoint/contracts/rest/audit';
import { handoffDetailSchema, handoffPageSchema } from '@fixpoint/contracts/rest/audit-handoffs';
import {
  deadLetterDetailQuerySchema,
  deadLettersQuerySchema,
  epicsQuerySchema,
  eventStreamQuerySchema,
  eventsQuerySchema,
  handoffDetailQuerySchema,
  handoffsQuerySchema,
  lineageDetailQuerySchema,
  lineagesQuerySchema,
  providersQuerySchema,
  runsQuerySchema,
  tasksQuerySchema,
} from '@fixpoint/contracts/rest/audit-queries';
import { deadLetterDetailSchema, deadLetterPageSchema } from '@fixpoint/contracts/rest/dead-letters';
import { errorBodySchema } from '@fixpoint/contracts/rest/errors';
import { type Operation, openApi } from '@fixpoint/contracts/rest/openapi-document';
import { providerPageSchema } from '@fixpoint/contracts/rest/providers';
import { z } from 'zod';

/** One operation of the read API, all of them GET. */
interface Question {
  readonly path: string;
  readonly summary: string;
  readonly query: z.ZodObject;
  readonly answer: { readonly type: string; readonly schema: string };
}

const json = (schema: string) => ({ type: 'application/json', schema });
const nothing = z.strictObject({});

/** Every route of the controller; its spec compares. */
export const OPERATIONS: readonly Question[] = [
  { path: 'lineages', summary: 'Lineages, newest first', query: lineagesQuerySchema, answer: json('LineagePage') },
  {
    path: 'lineages/{id}',
    summary: 'One lineage with its tasks as a tree',
    query: lineageDetailQuerySchema,
    answer: json('LineageDetail'),
  },
  { path: 'tasks', summary: 'Tasks, newest first', query: tasksQuerySchema, answer: json('TaskPage') },
  { path: 'epics', summary: 'Splits, newest first', query: epicsQuerySchema, answer: json('EpicPage') },
  { path: 'runs', summary: 'Runs, newest first', query: runsQuerySchema, answer: json('RunPage') },
  {
    path: 'handoffs',
    summary: 'What humans are asked for, newest first',
    query: handoffsQuerySchema,
    answer: json('HandoffPage'),
  },
  {
    path: 'handoffs/{handoff}',
    summary: 'One of them with everything that was said of it',
    query: handoffDetailQuerySchema,
    answer: json('HandoffDetail'),
  },
  {
    path: 'providers',
    summary: 'Models and hosts that runs met faults of, the last one first',
    query: providersQuerySchema,
    answer: json('ProviderPage'),
  },
  {
    path: 'dead-letters',
    summary: 'Events that a reader gave up, newest first',
    query: deadLettersQuerySchema,
    answer: json('DeadLetterPage'),
  },
  {
    path: 'dead-letters/{letter}',
    summary: 'One of them with the event and everything that was done about it',
    query: deadLetterDetailQuerySchema,
    answer: json('DeadLetterDetail'),
  },
  { path: 'events', summary: 'Events as stored, in their order', query: eventsQuerySchema, answer: json('EventPage') },
  {
    path: 'events/stream',
    summary: 'Events of one lineage as they happen; go on with the header Last-Event-ID',
    query: eventStreamQuerySchema,
    answer: { type: 'text/event-stream', schema: 'ServerSentEvents' },
  },
  {
    path: 'artifacts/{hash}',
    summary: 'The bytes of an artifact',
    query: nothing,
    answer: { type: 'application/octet-stream', schema: 'Bytes' },
  },
  { path: 'openapi.json', summary: 'This document', query: nothing, answer: json('Document') },
];

const SCHEMAS = {
  LineagePage: lineagePageSchema,
  LineageDetail: lineageDetailSchema,
  TaskTree: taskTreeSchema,
  TaskPage: taskPageSchema,
  EpicPage: epicPageSchema,
  RunPage: runPageSchema,
  HandoffPage: handoffPageSchema,
  HandoffDetail: handoffDetailSchema,
  ProviderPage: providerPageSchema,
  DeadLetterPage: deadLetterPageSchema,
  DeadLetterDetail: deadLetterDetailSchema,
  EventPage: eventPageSchema,
  Error: errorBodySchema,
  ServerSentEvents: z.string().describe('One message per event: `id` is its cursor, `data` its JSON'),
  Bytes: z.string(),
  Document: z.record(z.string(), z.unknown()),
};

const operationOf = ({ path, summary, query, answer }: Question): Operation => ({
  ...{ method: 'get', path: `/v1/audit/${path}`, summary, query, answers: [{ status: 200, ...answer }] },
});

/** The read API, as its requests are checked and its answers typed. */
export const openApiDocument = (): Record<string, unknown> =>
  openApi({ title: 'Fixpoint read API', operations: OPERATIONS.map(operationOf), asked: {}, answered: SCHEMAS });
