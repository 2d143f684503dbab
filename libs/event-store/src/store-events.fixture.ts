import type { NewEvent } from '@fixpoint/contracts/envelope';
import { eventId } from './event-id.ts';
import type { Append } from './event-store.ts';

const OCCURRED_AT = '2026-01-02T03:04:05.006Z';

/** An event whose id follows from `cause` and the stream; every other field is fixed. */
export const event = (stream: string, cause: string, change: Partial<NewEvent> = {}): NewEvent => ({
  id: eventId({ causeId: cause, causeTime: OCCURRED_AT, handler: 'spec__append', stream, index: 0 }),
  type: 'task_submitted',
  schema_version: 1,
  data: { cause },
  metadata: { causation_id: cause, correlation_id: stream, producer: 'spec__append', actor: 'local' },
  occurred_at: OCCURRED_AT,
  ...change,
});

/** A decision of one event per cause, on a stream at a version. */
export const appendOf = (stream: string, expectedVersion: number, ...causes: readonly string[]): Append => ({
  stream,
  root: stream,
  expectedVersion,
  events: causes.map((cause) => event(stream, cause)),
});
