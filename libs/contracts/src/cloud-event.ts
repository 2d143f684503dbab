import type { RecordedEvent } from './envelope.ts';
import { cursorToken } from './rest/cursor-token.ts';

/** An event as a CloudEvent 1.0 in binary mode: each attribute is a header, the event's data is the body. */
export interface CloudEvent {
  /** By header: `ce-id`, `ce-type`, … Values are printable ASCII, everything else percent-encoded. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** What stays inside, by event type: a token lets its holder act. */
const WITHHELD: Readonly<Record<string, readonly string[]>> = { governance_passed: ['token'] };

/** Keys of an event's data that are left out for everyone else. */
export const withheldKeys = (type: string): readonly string[] =>
  Object.hasOwn(WITHHELD, type) ? (WITHHELD[type] ?? []) : [];

/** @param source of all events of an installation: a path, `/fixpoint`. */
export const cloudEventOf = (event: RecordedEvent, source: string): CloudEvent => ({
  headers: Object.fromEntries(
    Object.entries(attributesOf(event, source)).map(([name, value]) => [`ce-${name}`, percentEncoded(value)]),
  ),
  body: JSON.stringify(dataOf(event)),
});

const attributesOf = (event: RecordedEvent, source: string): Record<string, string> => {
  const { metadata } = event;
  return {
    specversion: '1.0',
    id: event.id,
    source,
    type: `fixpoint.${event.type}`,
    subject: event.stream,
    time: event.occurred_at,
    datacontenttype: 'application/json',
    schemaversion: String(event.schema_version),
    root: event.root,
    streamversion: String(event.version),
    cursor: cursorToken(event.cursor),
    causationid: metadata.causation_id,
    correlationid: metadata.correlation_id,
    producer: metadata.producer,
    actor: metadata.actor,
    ...(metadata.traceparent === undefined ? {} : { traceparent: metadata.traceparent }),
  };
};

const dataOf = ({ type, data }: RecordedEvent): unknown => {
  const withheld = withheldKeys(type);
  if (withheld.length === 0 || typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).filter(([key]) => !withheld.includes(key)));
};

const percentEncoded = (value: string): string =>
  value.toWellFormed().replace(/[^\x21-\x7e]|["%]/gu, (sign) => encodeURIComponent(sign));
