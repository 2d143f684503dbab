import { eventId } from '@fixpoint/event-store/event-id';
import type { Append, EventStore } from '@fixpoint/event-store/event-store';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { spanContextOf } from './lineage-trace.ts';
import { OTHER_ROOT, ROOT, recordedTelemetry, traceOf } from './recorded-telemetry.fixture.ts';
import { tracedStore } from './traced-store.ts';

const telemetry = recordedTelemetry();
afterAll(() => telemetry.stop());

let bare: MemoryEventStore;
let store: EventStore;
beforeEach(() => {
  telemetry.clear();
  bare = new MemoryEventStore();
  store = tracedStore(bare, telemetry);
});

const appendOf = (root: string, expectedVersion = 0, traceparent?: string): Append => {
  const stream = `lineage-${root}`;
  const time = '2026-01-02T03:04:05.006Z';
  const causeId = `cause-${root}-${expectedVersion}`;
  return {
    stream,
    root,
    expectedVersion,
    events: [
      {
        id: eventId({ causeId, causeTime: time, handler: 'spec__append', stream, index: 0 }),
        type: 'node_ready',
        schema_version: 1,
        data: {},
        metadata: {
          causation_id: causeId,
          correlation_id: root,
          producer: 'orchestrator__timers',
          actor: 'system',
          ...(traceparent === undefined ? {} : { traceparent }),
        },
        occurred_at: time,
      },
    ],
  };
};

const originOf = async (root: string, version = 1) => {
  const [event] = await bare.readStream(`lineage-${root}`, version);
  return spanContextOf(event?.metadata.traceparent);
};

describe('an append', () => {
  test('leaves its own context in the events', async () => {
    await store.append(appendOf(ROOT));
    const { id, trace: traceId } = telemetry.named('append node_ready');
    expect(await originOf(ROOT)).toMatchObject({ traceId, spanId: id });
  });

  test('of a timer, which has no event before it, is in the trace of its lineage all the same', async () => {
    await store.append(appendOf(ROOT));
    expect(telemetry.named('append node_ready')).toMatchObject({ trace: traceOf(ROOT), parent: null });
  });

  test('goes on where the event before it was made', async () => {
    const parent = 'b7ad6b7169203331';
    await store.append(appendOf(ROOT, 0, `00-${traceOf(ROOT)}-${parent}-01`));
    expect(telemetry.named('append node_ready')).toMatchObject({ trace: traceOf(ROOT), parent });
  });

  test('of a request begins a trace of its own; both are linked', async () => {
    const request = telemetry.spans.open({ name: 'POST', kind: SpanKind.SERVER, attributes: {}, parent: null });
    await context.with(trace.setSpan(ROOT_CONTEXT, request), () => store.append(appendOf(ROOT)));
    request.end();
    const append = telemetry.named('append node_ready');
    expect(append).toMatchObject({ trace: traceOf(ROOT), parent: null, links: [telemetry.named('POST').id] });
    expect(telemetry.named('POST').links).toEqual([append.id]);
  });

  test('that loses says so, and nothing else changes', async () => {
    await store.append(appendOf(ROOT));
    telemetry.clear();
    expect(await store.append(appendOf(ROOT))).toEqual({ outcome: 'conflict' });
    expect(telemetry.named('append node_ready').attributes).toMatchObject({ 'fixpoint.append.outcome': 'conflict' });
  });

  test('that the store refuses has failed', async () => {
    await store.append({ ...appendOf(ROOT), stream: '' });
    expect(telemetry.named('append node_ready').failure).toBe('not_storable');
  });

  test('that throws has failed, and throws', async () => {
    const broken = tracedStore(
      Object.assign(new MemoryEventStore(), { appendAll: () => Promise.reject(new Error('connection lost')) }),
      telemetry,
    );
    await expect(broken.append(appendOf(ROOT))).rejects.toThrow('connection lost');
    expect(telemetry.named('append node_ready').failure).toBe('connection lost');
  });

  test('outside of a lineage is in the trace of whoever asked for it', async () => {
    const request = telemetry.spans.open({ name: 'PUT', kind: SpanKind.SERVER, attributes: {}, parent: null });
    const append = { ...appendOf(ROOT), root: 'protocol-web-shop', stream: 'protocol-web-shop' };
    await context.with(trace.setSpan(ROOT_CONTEXT, request), () => store.append(append));
    request.end();
    const { trace: traceId, id } = telemetry.named('PUT');
    expect(telemetry.named('append node_ready')).toMatchObject({ trace: traceId, parent: id });
  });

  test('of two lineages at once is a span in the trace of each', async () => {
    await store.appendAll([appendOf(ROOT), appendOf(OTHER_ROOT)]);
    expect(telemetry.seen().map((span) => span.trace)).toEqual([traceOf(ROOT), traceOf(OTHER_ROOT)]);
    expect((await originOf(OTHER_ROOT))?.traceId).toBe(traceOf(OTHER_ROOT));
  });
});
