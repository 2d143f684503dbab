import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { eventId } from '@fixpoint/event-store/event-id';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import type { Offer } from '@fixpoint/messaging/bus';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { eventually } from '@fixpoint/testing/eventually';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { knownOffers } from './known-offers.ts';
import { silentLog } from './log.ts';
import { systemClock } from './system-clock.ts';

const OLD = '2026-03-01T10:00:00.000Z';
const EPOCH = { number: 2, beganAt: '2026-03-01T12:00:00.000Z' };
const NEW = '2026-03-01T14:00:00.000Z';

let store: MemoryEventStore;
let bus: ReturnType<typeof memoryBus>;
let handled: string[];

beforeEach(() => {
  store = new MemoryEventStore();
  bus = memoryBus({ clock: systemClock, report: () => undefined });
  handled = [];
});
afterEach(() => bus.close());

const appendedTo = async (into: MemoryEventStore, stream: string, occurredAt: string): Promise<RecordedEvent> => {
  const metadata = { causation_id: 'c', correlation_id: stream, producer: 'spec', actor: 'system' };
  const event = {
    id: eventId({ causeId: stream, causeTime: OLD, handler: 'spec', stream, index: 0 }),
    type: 'task_submitted',
    schema_version: 1,
    data: {},
    metadata,
    occurred_at: occurredAt,
  };
  const outcome = await into.append({ stream, root: stream, expectedVersion: 0, events: [event] });
  const [recorded] = outcome.outcome === 'appended' ? outcome.events : [];
  if (recorded === undefined) throw new Error(`${stream} was not stored`);
  return recorded;
};
const stored = (stream: string, occurredAt: string) => appendedTo(store, stream, occurredAt);
/** An event of the same log that a restored store does not have. */
const lost = (stream: string, occurredAt: string) => appendedTo(new MemoryEventStore(), stream, occurredAt);

/** @returns the streams of what was given up. */
const offered = async (
  events: readonly RecordedEvent[],
  { epoch = EPOCH, fails = '' }: { readonly epoch?: typeof EPOCH; readonly fails?: string } = {},
): Promise<readonly string[]> => {
  const givenUp: string[] = [];
  const known = knownOffers(bus, { store, epoch, log: silentLog });
  await known.subscribe({
    name: 'spec__reader',
    types: ['task_submitted'],
    mode: { kind: 'batch', max: 10 },
    maxFailures: 1,
    handle: (offers: readonly Offer[]) => {
      handled.push(...offers.map(({ event }) => event.stream));
      const verdicts = offers.map(({ event }) =>
        event.stream === fails ? { verdict: 'failed' as const, error: 'spec' } : { verdict: 'done' as const },
      );
      return Promise.resolve(verdicts);
    },
    deadLetter: ({ event }) => {
      givenUp.push(event.stream);
      return Promise.resolve();
    },
  });
  // The last one is known, so that there is something to wait for.
  const last = await stored('last', NEW);
  const publications = [...events, last].map((event) => ({
    ...{ offer: { event, nodeReady: null }, workClass: 'normal' as const, reoffer: '' },
  }));
  await known.publish(publications);
  await eventually('the last one is handled', () => handled.includes('last'));
  if (fails !== '') await eventually('something is given up', () => givenUp.length > 0);
  return givenUp;
};

describe('P09: a bus that is ahead of its store', () => {
  test('gives readers nothing that the store has lost, and everything that it has', async () => {
    await offered([
      await lost('gone', OLD),
      await stored('kept', OLD),
      await lost('gone too', OLD),
      await stored('new', NEW),
    ]);
    expect(handled).toEqual(['kept', 'new', 'last']);
  });

  test('leaves each offer the verdict that its reader gave', async () => {
    const events = [await lost('gone', OLD), await stored('bad', OLD), await lost('gone too', OLD)];
    expect(await offered(events, { fails: 'bad' })).toEqual(['bad']);
  });

  test('does not take another event of the same id for it', async () => {
    await stored('made anew', '2026-03-01T11:00:00.000Z');
    await offered([await lost('made anew', OLD)]);
    expect(handled).toEqual(['last']);
  });

  test('is not asked about in the first epoch, nor for events of the current one', async () => {
    await offered([await lost('not looked up', NEW)]);
    await bus.close();
    bus = memoryBus({ clock: systemClock, report: () => undefined });
    store = new MemoryEventStore();
    await offered([await lost('old, in the first epoch', OLD)], { epoch: { ...EPOCH, number: 1 } });
    expect(handled).toEqual(['not looked up', 'last', 'old, in the first epoch', 'last']);
  });
});
