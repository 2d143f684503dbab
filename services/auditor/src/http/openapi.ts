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
import { providerPageSchema } from '@fixpoint/contracts/rest/providers';
import { z } from 'zod';

/** One operation of the read API, all of them GET. */
interface Operation {
  readonly path: string;
  readonly summary: string;
  readonly query: z.ZodObject;
  readonly answer: { readonly type: string; readonly schema: string };
}

const json = (schema: string) => ({ type: 'application/json', schema });
const nothing = z.strictObject({});

/** Every route of the controller; its spec compares. */
export const OPERATIONS: readonly Operation[] = [
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

const SCHEMAS = z
  .registry<{ id: string }>()
  .add(lineagePageSchema, { id: 'LineagePage' })
  .add(lineageDetailSchema, { id: 'LineageDetail' })
  .add(taskTreeSchema, { id: 'TaskTree' })
  .add(taskPageSchema, { id: 'TaskPage' })
  .add(epicPageSchema, { id: 'EpicPage' })
  .add(runPageSchema, { id: 'RunPage' })
  .add(handoffPageSchema, { id: 'HandoffPage' })
  .add(handoffDetailSchema, { id: 'HandoffDetail' })
  .add(providerPageSchema, { id: 'ProviderPage' })
  .add(deadLetterPageSchema, { id: 'DeadLetterPage' })
  .add(deadLetterDetailSchema, { id: 'DeadLetterDetail' })
  .add(eventPageSchema, { id: 'EventPage' })
  .add(errorBodySchema, { id: 'Error' })
  .add(z.string().describe('One message per event: `id` is its cursor, `data` its JSON'), { id: 'ServerSentEvents' })
  .add(z.string(), { id: 'Bytes' })
  .add(z.record(z.string(), z.unknown()), { id: 'Document' });

const reference = (id: string): string => `#/components/schemas/${id}`;

/** The read API as an OpenAPI 3.1 document, made from the schemas that requests are checked and answers parsed with. */
export const openApiDocument = (): Record<string, unknown> => ({
  openapi: '3.1.0',
  info: { title: 'Fixpoint read API', version: '1', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
  paths: Object.fromEntries(
    OPERATIONS.map((operation) => [`/v1/audit/${operation.path}`, { get: described(operation) }]),
  ),
  components: {
    schemas: z.toJSONSchema(SCHEMAS, { uri: reference, unrepresentable: 'any' }).schemas,
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  },
  security: [{ key: [] }],
});

const described = ({ path, summary, query, answer }: Operation): Record<string, unknown> => ({
  summary,
  parameters: [...pathParameters(path), ...queryParameters(query)],
  responses: {
    200: { description: summary, content: { [answer.type]: { schema: { $ref: reference(answer.schema) } } } },
    default: { description: 'An error', content: { 'application/json': { schema: { $ref: reference('Error') } } } },
  },
});

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

const queryParameters = (query: z.ZodObject) => {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
};
