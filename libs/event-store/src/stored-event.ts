import { canonicalJson, NotCanonical } from '@fixpoint/contracts/canonical-json';
import type { NewEvent } from '@fixpoint/contracts/envelope';
import type { Append, AppendOutcome, AppendRejection } from './event-store.ts';
import { eventHash } from './hash.ts';
import { shardOf } from './shard.ts';

/** `data` and `metadata` of one event together, in bytes of their stored texts. */
export const EVENT_BYTES_LIMIT = 65_536;

/** More rows than this would not fit into one statement's parameters. */
const APPEND_EVENTS_LIMIT = 4_096;

/** An event as it is stored: what the hash covers is text here and is never encoded again. */
export interface StoredEvent {
  readonly version: number;
  readonly event: NewEvent;
  readonly metadata: string;
  readonly data: string;
  /** Length of both texts in bytes of UTF-8. */
  readonly bytes: number;
  readonly hash: Buffer;
}

/** An append whose events have their stored form. */
export interface StoredAppend {
  readonly append: Append;
  readonly shard: number;
  readonly events: readonly StoredEvent[];
  readonly bytes: number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

class Unstorable extends Error {
  readonly code: AppendRejection;

  constructor(code: AppendRejection, detail: string) {
    super(detail);
    this.code = code;
  }
}

const columnText = (name: string, text: string): void => {
  if (text === '' || text.includes('\0') || !text.isWellFormed()) {
    throw new Unstorable('not_storable', `${name} is empty or has characters that a text column refuses`);
  }
};

const json = (name: string, value: unknown): string => {
  try {
    return canonicalJson(value);
  } catch (error) {
    if (error instanceof NotCanonical) throw new Unstorable('not_storable', `${name}: ${error.message}`);
    // Nested so deeply that the stack ended.
    if (error instanceof RangeError) throw new Unstorable('not_storable', `${name} is nested too deeply`);
    throw error;
  }
};

const storedEvent = (stream: string, version: number, event: NewEvent): StoredEvent => {
  columnText('type', event.type);
  if (!UUID.test(event.id)) throw new Unstorable('not_storable', `${event.type}: id is no lower-case uuid`);
  if (!INSTANT.test(event.occurred_at))
    throw new Unstorable('not_storable', `${event.id}: occurred_at is no UTC instant in ms`);
  const metadata = json(`${event.id}: metadata`, event.metadata);
  const data = json(`${event.id}: data`, event.data);
  const bytes = Buffer.byteLength(metadata) + Buffer.byteLength(data);
  if (bytes > EVENT_BYTES_LIMIT) throw new Unstorable('event_too_large', `${event.type} ${event.id}: ${bytes} bytes`);
  const { id, type, schema_version: schemaVersion, occurred_at: occurredAt } = event;
  const hash = eventHash({ stream, version, id, type, schemaVersion, occurredAt, metadata, data });
  return { version, event, metadata, data, bytes, hash };
};

const store = (append: Append): StoredAppend => {
  columnText('stream', append.stream);
  columnText('root', append.root);
  const count = append.events.length;
  if (count === 0 || count > APPEND_EVENTS_LIMIT)
    throw new Unstorable('not_storable', `${append.stream}: ${count} events`);
  if (!Number.isSafeInteger(append.expectedVersion) || append.expectedVersion < 0) {
    throw new Unstorable('not_storable', `${append.stream}: expected version ${append.expectedVersion}`);
  }
  const events = append.events.map((event, index) =>
    storedEvent(append.stream, append.expectedVersion + index + 1, event),
  );
  return { append, shard: shardOf(append.root), events, bytes: events.reduce((sum, event) => sum + event.bytes, 0) };
};

export const rejected = (code: AppendRejection, detail: string): AppendOutcome & { outcome: 'rejected' } => ({
  outcome: 'rejected',
  code,
  detail,
});

/** Encodes each event once. What no store could keep is rejected here, before it can spoil the batch it would be in. */
export const storedAppend = (append: Append): StoredAppend | (AppendOutcome & { outcome: 'rejected' }) => {
  try {
    return store(append);
  } catch (error) {
    if (error instanceof Unstorable) return rejected(error.code, error.message);
    throw error;
  }
};
