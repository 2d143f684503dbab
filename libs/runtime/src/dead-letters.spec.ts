import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import type { Publication } from '@fixpoint/messaging/bus';
import { simulatedClock } from '@fixpoint/testing/simulated-clock';
import { describe, expect, test } from '@jest/globals';
import { deadLetterOf } from './dead-letters.ts';

const given = (change: Partial<RecordedEvent> = {}): RecordedEvent => ({
  ...{
    id: 'e1',
    type: 'node_ready',
    schema_version: 9,
    data: { task: 't1', run: 2 },
    root: 'r1',
    stream: 'lineage-r1',
  },
  metadata: { causation_id: 'c', correlation_id: 'r1', producer: 'orchestrator__decide', actor: 'ci' },
  ...{ version: 4, occurred_at: '2026-01-01T00:00:00.000Z', hash: '', cursor: { epoch: 1, xid: '1', position: '1' } },
  ...change,
});

/** A reader's dead letters, with everything that was published about them. */
const letters = () => {
  const store = new MemoryEventStore();
  const published: Publication[] = [];
  const publisher = { publish: (some: readonly Publication[]) => void published.push(...some) };
  const deps = { store, publisher, clock: simulatedClock() };
  const giveUp = (event: RecordedEvent, deliveries = 5, reader = 'validator__gate'): Promise<void> =>
    deadLetterOf(deps, 'validator', reader)({ event, nodeReady: null }, deliveries, 'no idea what this is');
  return { store, published, giveUp };
};

const only = async (store: MemoryEventStore): Promise<readonly RecordedEvent[]> =>
  (await store.readAll({ epoch: 0, xid: '0', position: '0' }, 100)).events;

describe('a dead letter', () => {
  test('says what was given up, by whom and why, on behalf of whoever caused it', async () => {
    const { store, giveUp, published } = letters();
    await giveUp(given());
    const [event] = await only(store);
    if (!event) throw new Error('nothing was stored');
    expect(readEvent(event, 'dead_lettered')).toEqual({
      ...{ service: 'validator', reader: 'validator__gate', deliveries: 5, reason: 'no idea what this is' },
      ...{ event_id: 'e1', event_type: 'node_ready', event_version: 9, root: 'r1', task: 't1', run: 2 },
    });
    expect(event.metadata).toMatchObject({ causation_id: 'e1', actor: 'ci', producer: 'validator__gate' });
    expect(published.map(({ offer }) => offer.event)).toEqual([event]);
  });

  test('F5: given up twice is recorded once, and told twice: the first word may be lost', async () => {
    const { store, giveUp, published } = letters();
    await giveUp(given());
    await giveUp(given(), 6);
    const events = await only(store);
    expect(events).toHaveLength(1);
    expect(published.map(({ offer }) => offer.event)).toEqual([events[0], events[0]]);
  });

  test('has a stream of its own for each reader and event', async () => {
    const { store, giveUp } = letters();
    await giveUp(given());
    await giveUp(given({ id: 'e2' }));
    await giveUp(given(), 5, 'validator__judge');
    const streams = (await only(store)).map(({ stream, version }) => [stream.slice(0, 15), version]);
    expect(streams).toEqual([1, 2, 3].map(() => ['dead-validator-', 1]));
    expect(new Set((await only(store)).map(({ stream }) => stream)).size).toBe(3);
  });

  test('of an event outside any lineage belongs to none', async () => {
    const { store, giveUp } = letters();
    await giveUp(given({ root: 'protocol-p', stream: 'protocol-p', data: null }));
    expect((await only(store))[0]?.data).toMatchObject({ root: null, task: null, run: null });
  });

  test('F7: of an event without a time or metadata is recorded all the same', async () => {
    const { store, giveUp } = letters();
    await giveUp({ ...given(), occurred_at: 'never', metadata: undefined } as unknown as RecordedEvent);
    expect((await only(store))[0]?.metadata).toMatchObject({ causation_id: 'e1', actor: 'system' });
  });
});
