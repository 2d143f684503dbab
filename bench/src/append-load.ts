import { randomUUID } from 'node:crypto';
import { eventId } from '@fixpoint/event-store/event-id';
import type { Append } from '@fixpoint/event-store/event-store';

const OCCURRED_AT = '2026-01-02T03:04:05.006Z';

/** Data and metadata of about 600 bytes together, as the events of a task have them. */
const DATA = { text: 'x'.repeat(430) };

/** New streams, each with its first events in one append. */
export const appendsOf = (streams: number, events: number): readonly Append[] =>
  Array.from({ length: streams }, () => {
    const root = randomUUID();
    const stream = `action-${root}-1`;
    return {
      stream,
      root,
      expectedVersion: 0,
      events: Array.from({ length: events }, (_, index) => event(stream, root, index)),
    };
  });

const event = (stream: string, root: string, index: number): Append['events'][number] => ({
  id: eventId({ causeId: root, causeTime: OCCURRED_AT, handler: 'bench__append', stream, index }),
  type: 'tool_called',
  schema_version: 1,
  data: DATA,
  metadata: { causation_id: root, correlation_id: root, producer: 'bench__append', actor: 'system' },
  occurred_at: OCCURRED_AT,
});

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
