import { z } from 'zod';
import { withheldKeys } from './cloud-event.ts';
import { metadataSchema } from './envelope.ts';
import { eventCatalogue } from './events/catalogue.ts';
import { isConsumed, READERS, STOP_TYPES } from './services.ts';

type Json = Record<string, unknown>;
type Definition = (typeof eventCatalogue)[number];

/**
 * The wire as an AsyncAPI 3.0 document: every event with owner, version and schema, who reads it from the bus, and what of
 * it everyone else can subscribe to.
 */
export const asyncApi = (): Json => ({
  asyncapi: '3.0.0',
  info: {
    title: 'Fixpoint events',
    version: '1',
    description:
      'Every event is stored before it is published. Services act on what comes on `work`; everyone else subscribes to `feed`.',
    license: { name: 'Apache-2.0' },
  },
  defaultContentType: 'application/json',
  channels: { work: workChannel(), feed: feedChannel() },
  operations: operations(),
  components: {
    messages: {
      ...Object.fromEntries(eventCatalogue.map((event) => [event.type, message(event)])),
      ...Object.fromEntries(eventCatalogue.map((event) => [fed(event.type), fedMessage(event)])),
    },
    messageTraits: { cloud_event: cloudEventTrait() },
    schemas: { metadata: jsonSchemaOf(metadataSchema) },
  },
});

const published = eventCatalogue.filter(({ type }) => isConsumed(type));

const workChannel = (): Json => ({
  title: 'Work',
  description: 'Events that a service acts on, in publications of one or more events for one reader.',
  messages: Object.fromEntries(published.map(({ type }) => [type, { $ref: `#/components/messages/${type}` }])),
});

/** Name of the message that a type has on the feed. */
const fed = (type: string): string => `fed_${type}`;

const feedChannel = (): Json => ({
  title: 'Feed',
  address: 'fixpoint.events.{type}',
  description:
    'Every event, for everyone else, in the order of the store and at least once, as a CloudEvent in binary mode. ' +
    'JetStream keeps it in the stream FEED. See docs/feed.md.',
  parameters: { type: { description: 'Type of the event.', enum: eventCatalogue.map(({ type }) => type) } },
  messages: Object.fromEntries(
    eventCatalogue.map(({ type }) => [type, { $ref: `#/components/messages/${fed(type)}` }]),
  ),
});

/** The event's data is the body; what is withheld is not there. */
const fedMessage = (event: Definition): Json => ({
  name: fed(event.type),
  title: `${event.type} v${event.version} on the feed`,
  summary: event.description,
  traits: [{ $ref: '#/components/messageTraits/cloud_event' }],
  payload: fedPayload(event),
});

const fedPayload = ({ type, data }: Definition): Json => {
  const withheld = withheldKeys(type);
  if (withheld.length > 0) return without(jsonSchemaOf(data), withheld);
  return { $ref: `#/components/messages/${type}/payload/properties/data` };
};

const without = (schema: Json, keys: readonly string[]): Json => {
  const { properties, required } = schema as { properties: Json; required: readonly string[] };
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => !keys.includes(key))),
    required: required.filter((key) => !keys.includes(key)),
  };
};

const text = (description: string): Json => ({ type: 'string', description });

const cloudEventTrait = (): Json => ({
  contentType: 'application/json',
  headers: {
    type: 'object',
    properties: {
      'Nats-Msg-Id': text('The id of the event.'),
      'ce-specversion': { const: '1.0' },
      'ce-id': text('The id of the event: what comes twice has it twice.'),
      'ce-source': text('`/` and the namespace of the installation.'),
      'ce-type': text('`fixpoint.` and the type.'),
      'ce-subject': text('The stream of the store that the event is in.'),
      'ce-time': { type: 'string', format: 'date-time' },
      'ce-datacontenttype': { const: 'application/json' },
      'ce-schemaversion': text('Version of the schema of the data.'),
      'ce-root': text('The lineage; the name of the stream for events outside any.'),
      'ce-streamversion': text('Place in its stream, from 1.'),
      'ce-cursor': text('Place in the store, as `since` of the read API takes it.'),
      'ce-causationid': text('What caused it.'),
      'ce-correlationid': text('What it belongs to.'),
      'ce-producer': text('Which part of which service decided it.'),
      'ce-actor': text('On whose behalf.'),
      'ce-traceparent': text('W3C trace context; only where tracing is on.'),
    },
    required: ['ce-specversion', 'ce-id', 'ce-source', 'ce-type'],
  },
});

const operations = (): Json => {
  const readers = Object.entries(READERS).map(([reader, types]) => [reader, operation('receive', types)]);
  const writers = owners().map((owner) => [`${owner}__publish`, operation('send', typesOf(owner))]);
  return Object.fromEntries([
    ...readers,
    ['executor__stop', operation('receive', STOP_TYPES)],
    ...writers,
    ['auditor__feed', { action: 'send', channel: { $ref: '#/channels/feed' } }],
  ]);
};

const typesOf = (owner: string): string[] =>
  published.filter((event) => ownersOf(event).includes(owner)).map(({ type }) => type);

const ownersOf = ({ owners }: Definition): readonly string[] => owners;

const owners = (): string[] => [...new Set(eventCatalogue.flatMap(ownersOf))].sort();

const operation = (action: 'send' | 'receive', types: readonly string[]): Json => ({
  action,
  channel: { $ref: '#/channels/work' },
  messages: types.map((type) => ({ $ref: `#/channels/work/messages/${type}` })),
});

const message = (event: Definition): Json => ({
  name: event.type,
  title: `${event.type} v${event.version}`,
  summary: event.description,
  payload: {
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid' },
      type: { const: event.type },
      schema_version: { const: event.version },
      root: { type: 'string' },
      stream: { type: 'string' },
      version: { type: 'integer', minimum: 1 },
      data: jsonSchemaOf(event.data),
      metadata: { $ref: '#/components/schemas/metadata' },
      occurred_at: { type: 'string', format: 'date-time' },
    },
    required: ['id', 'type', 'schema_version', 'root', 'stream', 'version', 'data', 'metadata', 'occurred_at'],
  },
  'x-owners': ownersOf(event),
});

/** A schema inside another document has no definitions of its own. The one that repeats itself is "any JSON": no limit. */
const jsonSchemaOf = (schema: z.ZodType): Json => {
  const { $schema: _, $defs: __, ...body } = z.toJSONSchema(schema, { io: 'input', reused: 'inline' });
  return JSON.parse(JSON.stringify(body), (_key, value: unknown) => (isReference(value) ? {} : value)) as Json;
};

const isReference = (value: unknown): boolean => typeof value === 'object' && value !== null && '$ref' in value;
