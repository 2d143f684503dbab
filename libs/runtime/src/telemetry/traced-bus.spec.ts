import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import type { Bus, Offer, Publication, Reader, Subscription } from '@fixpoint/messaging/bus';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { eventually } from '@fixpoint/testing/eventually';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { systemClock } from '../system-clock.ts';
import { spanContextOf } from './lineage-trace.ts';
import { OTHER_ROOT, ROOT, recordedEvent, recordedTelemetry, traceOf } from './recorded-telemetry.fixture.ts';
import { tracedBus } from './traced-bus.ts';
import { tracedReader } from './traced-reader.ts';
import { tracedStore } from './traced-store.ts';

const telemetry = recordedTelemetry();
afterAll(() => telemetry.stop());

const MADE_BY = 'b7ad6b7169203331';
const madeIn = (root: string): string => `00-${traceOf(root)}-${MADE_BY}-01`;
const READ = 'process node_ready';

let bus: Bus;
let subscription: Subscription | null;
beforeEach(() => {
  telemetry.clear();
  subscription = null;
  const bare = memoryBus({ clock: systemClock, report: () => undefined, failureDelayMs: () => 1 });
  bus = tracedBus(bare, telemetry, 'memory');
});
afterEach(async () => {
  await subscription?.drain(AbortSignal.timeout(5_000));
  await bus.close();
});

const published = (root: string, reoffer = ''): Publication => ({
  offer: { event: recordedEvent(root, 'node_ready', madeIn(root)), nodeReady: null },
  workClass: 'normal',
  reoffer,
});

const readerOf = (handle: Reader['handle'], rest: Partial<Reader> = {}): Reader => ({
  name: 'validator__gate',
  types: ['node_ready'],
  mode: { kind: 'pool', concurrency: 4 },
  maxFailures: 2,
  handle,
  deadLetter: async () => undefined,
  ...rest,
});

const done: Reader['handle'] = async (offers) => offers.map(() => ({ verdict: 'done' }));
const reads = (): number => telemetry.seen().filter(({ name }) => name === READ).length;

describe('an event on the bus', () => {
  test('is read below whoever made it, and linked with whoever sent it', async () => {
    subscription = await bus.subscribe(readerOf(done));
    await bus.publish([published(ROOT)]);
    await eventually('it is read', () => reads() === 1);
    const sent = telemetry.named('publish node_ready');
    expect(sent).toMatchObject({ trace: traceOf(ROOT), parent: MADE_BY });
    expect(telemetry.named(READ)).toMatchObject({ trace: traceOf(ROOT), parent: MADE_BY, links: [sent.id] });
  });

  test('that comes again after a failure is read in the same trace', async () => {
    let failures = 0;
    const once: Reader['handle'] = async (offers) => {
      failures += 1;
      return offers.map(() => (failures === 1 ? { verdict: 'failed', error: 'not yet' } : { verdict: 'done' }));
    };
    subscription = await bus.subscribe(readerOf(once));
    await bus.publish([published(ROOT)]);
    await eventually('it is read twice', () => reads() === 2);
    const spans = telemetry.seen().filter(({ name }) => name === READ);
    expect(spans.map(({ parent, failure }) => [parent, failure])).toEqual([
      [MADE_BY, 'not yet'],
      [MADE_BY, ''],
    ]);
  });

  test('that the healer offers again is in its lineage, and says so', async () => {
    subscription = await bus.subscribe(readerOf(done));
    await bus.publish([published(ROOT, 'offer-2')]);
    await eventually('it is read', () => reads() === 1);
    const sent = telemetry.named('publish node_ready');
    expect(sent).toMatchObject({ parent: MADE_BY, attributes: { 'fixpoint.reoffer': true } });
    expect(telemetry.named(READ)).toMatchObject({ parent: MADE_BY, links: [sent.id] });
  });

  test('that a human has offered again is in its lineage, linked with what he did', async () => {
    subscription = await bus.subscribe(readerOf(done));
    const replay = telemetry.spans.open({ name: 'POST replay', kind: SpanKind.SERVER, attributes: {}, parent: null });
    await context.with(trace.setSpan(ROOT_CONTEXT, replay), () => bus.publish([published(ROOT, 'offer-2')]));
    replay.end();
    await eventually('it is read', () => reads() === 1);
    const by = telemetry.named('POST replay').id;
    expect(telemetry.named('publish node_ready')).toMatchObject({ trace: traceOf(ROOT), links: [by] });
    expect(telemetry.named(READ).trace).toBe(traceOf(ROOT));
  });

  test('that is given up leaves a span in its lineage, in which the dead letter is recorded', async () => {
    let recordedIn: string | undefined;
    const reader = readerOf(async (offers) => offers.map(() => ({ verdict: 'failed', error: 'never' })), {
      deadLetter: async () => {
        recordedIn = trace.getSpanContext(context.active())?.spanId;
      },
    });
    subscription = await bus.subscribe(reader);
    await bus.publish([published(ROOT)]);
    await eventually('it is given up', () =>
      telemetry.measured.includes('fixpoint.dead_letter.recorded validator__gate'),
    );
    const letter = telemetry.named('dead_letter node_ready');
    expect(letter).toMatchObject({ trace: traceOf(ROOT), parent: MADE_BY, failure: 'never', id: recordedIn });
  });

  test('that was made without telemetry is in the trace of its lineage from here on', async () => {
    subscription = await bus.subscribe(readerOf(done));
    const { offer, ...rest } = published(ROOT);
    await bus.publish([{ ...rest, offer: { ...offer, event: recordedEvent(ROOT, 'node_ready') } }]);
    await eventually('it is read', () => reads() === 1);
    expect(telemetry.named(READ)).toMatchObject({ trace: traceOf(ROOT), parent: null, links: [] });
  });

  test('is measured by its reader', async () => {
    subscription = await bus.subscribe(readerOf(done));
    await bus.publish([published(ROOT)]);
    await eventually('it is read', () => reads() === 1);
    await eventually('it is measured', () => telemetry.measured.length === 2);
    expect(telemetry.measured).toEqual([
      'messaging.process.duration memory process validator__gate',
      'fixpoint.event.lag validator__gate',
    ]);
  });
});

describe('the backlog of a reader', () => {
  const BACKLOG = 'fixpoint.bus.consumer.backlog';
  const NAME = { 'fixpoint.reader': 'validator__gate' };

  /** A bus whose broker says these in turn. */
  const saying = (answers: readonly (number | null)[]): { bus: Bus; asked: () => number } => {
    let asked = 0;
    const bare = memoryBus({ clock: systemClock, report: () => undefined });
    const counting: Bus = {
      ...bare,
      subscribe: async (reader) => ({
        ...(await bare.subscribe(reader)),
        backlog: async () => {
          asked += 1;
          return answers[asked - 1] ?? null;
        },
      }),
    };
    return { bus: tracedBus(counting, telemetry, 'memory'), asked: () => asked };
  };

  test('N22: is asked of the broker once, however often metrics are collected within some seconds', async () => {
    const { bus: slow, asked } = saying([7, 8]);
    subscription = await slow.subscribe(readerOf(done));
    for (let scrape = 0; scrape < 3; scrape += 1) {
      expect(await telemetry.gauge(BACKLOG)).toEqual([{ value: 7, attributes: NAME }]);
    }
    expect(asked()).toBe(1);
  });

  test('is not shown while the broker does not answer', async () => {
    subscription = await saying([null]).bus.subscribe(readerOf(done));
    expect(await telemetry.gauge(BACKLOG)).toEqual([]);
  });

  test('is not asked for any more once the reader has drained', async () => {
    const { bus: slow, asked } = saying([7]);
    await (await slow.subscribe(readerOf(done))).drain(AbortSignal.timeout(5_000));
    expect([await telemetry.gauge(BACKLOG), asked()]).toEqual([[], 0]);
  });
});

describe('a batch of several lineages', () => {
  const store = new MemoryEventStore();
  const traced = tracedStore(store, telemetry);

  /** Answers each offer with an event in the lineage of that offer. */
  const answer: Reader['handle'] = async (offers) => {
    await traced.appendAll(
      offers.map(({ event }) => ({
        stream: event.stream,
        root: event.root,
        expectedVersion: 0,
        events: [
          {
            ...{ id: event.root, type: 'node_completed', schema_version: 1, data: {} },
            metadata: { ...recordedEvent(event.root, 'node_ready').metadata, causation_id: event.id },
            occurred_at: event.occurred_at,
          },
        ],
      })),
    );
    return offers.map(() => ({ verdict: 'done' }));
  };
  const offers: readonly Offer[] = [published(ROOT).offer, published(OTHER_ROOT).offer];

  test('is a trace of its own, linked with each; what each causes is in its own', async () => {
    const reader = tracedReader(readerOf(answer, { mode: { kind: 'batch', max: 10 } }), telemetry, 'memory');
    await reader.handle(offers, AbortSignal.timeout(5_000));
    const batch = telemetry.named('process batch validator__gate');
    expect(batch).toMatchObject({ parent: null, links: [MADE_BY, MADE_BY] });
    for (const root of [ROOT, OTHER_ROOT]) {
      const inTrace = telemetry.seen().filter((span) => span.trace === traceOf(root));
      const [append, read] = inTrace;
      expect(inTrace.map(({ name }) => name)).toEqual(['append node_completed', READ]);
      expect(read).toMatchObject({ parent: MADE_BY, links: [batch.id] });
      expect(append?.parent).toBe(read?.id);
      const [stored] = await store.readStream(`lineage-${root}`);
      expect(spanContextOf(stored?.metadata.traceparent)).toMatchObject({ traceId: traceOf(root), spanId: append?.id });
    }
    expect([traceOf(ROOT), traceOf(OTHER_ROOT)]).not.toContain(batch.trace);
  });

  test('that fails as a whole fails in each trace', async () => {
    const reader = tracedReader(
      readerOf(() => Promise.reject(new Error('connection lost'))),
      telemetry,
      'memory',
    );
    await expect(reader.handle(offers, AbortSignal.timeout(5_000))).rejects.toThrow('connection lost');
    expect(telemetry.seen().map(({ failure }) => failure)).toEqual(Array(3).fill('connection lost'));
  });
});
