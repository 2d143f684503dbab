import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { type Feed, type FeedEnd, FeedMoved } from '@fixpoint/messaging/feed';
import { MemoryFeedStream, memoryFeed } from '@fixpoint/messaging/memory-feed';
import { simulatedClock } from '@fixpoint/testing/simulated-clock';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FeedLeader } from './feed-leader.ts';
import { MemoryCheckpointRow, memoryFeedCheckpoint } from './memory-feed-checkpoint.fixture.ts';

const NEVER = new AbortController().signal;

let store: MemoryEventStore;
let stream: MemoryFeedStream;
let row: MemoryCheckpointRow;

beforeEach(() => {
  store = new MemoryEventStore();
  stream = new MemoryFeedStream();
  row = new MemoryCheckpointRow();
});

let appended = 0;

/** Appends events, each to a stream of its own. @returns their ids */
const happen = async (count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => `00000000-0000-4000-8000-${String(++appended).padStart(12, '0')}`);
  for (const id of ids) {
    const metadata = { causation_id: id, correlation_id: id, producer: 'spec', actor: 'system' };
    const event = {
      id,
      type: 'thing_done',
      schema_version: 1,
      data: {},
      metadata,
      occurred_at: '2026-01-01T00:00:00.000Z',
    };
    const outcome = await store.append({ stream: `s-${id}`, root: id, expectedVersion: 0, events: [event] });
    if (outcome.outcome !== 'appended') throw new Error(JSON.stringify(outcome));
  }
  return ids;
};

const fed = (): string[] => stream.events.map(({ id }) => id);

/** A process that may lead. It never waits: there is something to do whenever a step is taken. */
const process = (owner: string, feed: Feed = memoryFeed(stream)): FeedLeader =>
  new FeedLeader({
    store: {
      readAll: (after, limit) => store.readAll(after, limit),
      readStream: (name, from) => store.readStream(name, from),
    },
    changed: async () => undefined,
    feed,
    checkpoint: memoryFeedCheckpoint(row, owner),
    clock: { ...simulatedClock(), sleep: async () => undefined },
    pageSize: 3,
  });

const steps = async (leader: FeedLeader, count: number): Promise<void> => {
  for (let step = 0; step < count; step += 1) await leader.step(NEVER);
};

describe('the feed', () => {
  test('has every event once, in the order of the store', async () => {
    const ids = await happen(8);
    await steps(process('a'), 4);
    expect(fed()).toEqual(ids);
  });

  test('is written by one process; the other goes on at once when that stops', async () => {
    const [a, b] = [process('a'), process('b')];
    const ids = await happen(2);
    await steps(a, 1);
    ids.push(...(await happen(2)));
    await steps(b, 2);
    expect(fed()).toHaveLength(2);
    await a.release();
    await steps(b, 1);
    expect(fed()).toEqual(ids);
  });

  test('goes on where the feed is when its leader died before the checkpoint moved', async () => {
    const ids = await happen(6);
    const killed = { ...memoryFeed(stream), append: () => Promise.reject(new Error('killed')) };
    const dying = memoryFeed(stream);
    const a = process('a', {
      ...dying,
      append: async (...page) => {
        await dying.append(...page);
        return killed.append();
      },
    });
    await expect(a.step(NEVER)).rejects.toThrow('killed');
    row.expire();
    await steps(process('b'), 2);
    expect(fed()).toEqual(ids);
  });

  test('A17: gets nothing from a leader that slept through the end of its lease', async () => {
    const ids = await happen(5);
    const sleeper = memoryFeed(stream);
    const { promise: awake, resolve: wake } = Promise.withResolvers<void>();
    const a = process('a', {
      open: () => sleeper.open(),
      isOpen: () => sleeper.isOpen(),
      append: async (...page) => {
        await awake;
        await sleeper.append(...page);
      },
    });
    const asleep = a.step(NEVER);
    row.expire();
    await steps(process('b'), 3);
    expect(fed()).toEqual(ids);
    wake();
    await asleep;
    await steps(a, 2);
    expect([fed(), row.owner]).toEqual([ids, 'b']);
  });

  test('N2: is written again from the beginning when the broker has lost everything', async () => {
    const leader = process('a');
    const ids = await happen(7);
    await steps(leader, 3);
    stream.lose(0);
    ids.push(...(await happen(1)));
    await steps(leader, 3);
    expect(fed()).toEqual(ids);
  });

  test('A5: is written again from where a restored broker ends', async () => {
    const leader = process('a');
    const ids = await happen(7);
    await steps(leader, 3);
    stream.lose(4);
    await steps(leader, 2);
    expect(fed()).toEqual(ids);
  });

  test('that was written from another log starts where this log does', async () => {
    await happen(9);
    await steps(process('a'), 3);
    const strangers = fed();
    store = new MemoryEventStore();
    row = new MemoryCheckpointRow();
    const ids = await happen(2);
    await steps(process('a'), 2);
    expect(fed()).toEqual([...strangers, ...ids]);
  });

  test('N4: goes on when the broker passes over what it has seen a moment ago', async () => {
    const ids = await happen(4);
    await steps(process('a'), 2);
    // The restored log has lost its newest event; the checkpoint was restored with it, and is older still.
    row.cursor = { ...row.cursor, position: '1' };
    const [, second] = stream.events;
    const strange = memoryFeed(stream);
    const open = async (): Promise<FeedEnd> => {
      await strange.open();
      return { end: 'unknown' };
    };
    const leader = process('a', { ...strange, open });
    ids.push(...(await happen(1)));
    await steps(leader, 3);
    expect(fed()).toEqual(ids);
    expect(second?.id).toBe(ids[1]);
  });

  /** What may happen to two processes; each kill puts another process in the place. */
  const acts = (ids: string[]): Readonly<Record<string, () => Promise<void>>> => {
    const leaders = { a: process('a'), b: process('b') };
    let lives = 0;
    return {
      happen: async () => void ids.push(...(await happen(2))),
      a: () => leaders.a.step(NEVER),
      b: () => leaders.b.step(NEVER),
      kill_a: async () => void Object.assign(leaders, { a: process(`a${++lives}`) }),
      kill_b: async () => void Object.assign(leaders, { b: process(`b${++lives}`) }),
      expire: async () => row.expire(),
      cut: () => cutOff(process(`cut${++lives}`)),
    };
  };

  test('is complete and in order, whoever is killed whenever, and repeats nothing', async () => {
    const plans = fc.array(fc.constantFrom(...Object.keys(acts([]))), { maxLength: 60 });
    const holds = async (plan: readonly string[]): Promise<void> => {
      store = new MemoryEventStore();
      stream = new MemoryFeedStream();
      row = new MemoryCheckpointRow();
      const ids: string[] = [];
      const act = acts(ids);
      for (const name of plan) await act[name]?.();
      row.expire();
      await steps(process('last'), ids.length + 2);
      expect(fed()).toEqual(ids);
    };
    await fc.assert(fc.asyncProperty(plans, holds), { numRuns: 200 });
  });

  /** A process that takes over when it can, and dies after it wrote and before it said so. */
  const cutOff = async (leader: FeedLeader): Promise<void> => {
    const { cursor } = row;
    row.expire();
    await leader.step(NEVER);
    row.cursor = cursor;
  };

  test('that is refused throws nothing at its loop, and the broker being away does', async () => {
    await happen(1);
    const feed = memoryFeed(stream);
    const refused = process('a', { ...feed, append: () => Promise.reject(new FeedMoved('moved')) });
    await refused.step(NEVER);
    await refused.release();
    const away = process('b', { ...feed, open: () => Promise.reject(new Error('no broker')) });
    await expect(away.step(NEVER)).rejects.toThrow('no broker');
    expect(row.owner).toBe(null);
  });
});
