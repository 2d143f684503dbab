import type { Decider } from '@fixpoint/decider/decider';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryEventStore } from './memory-event-store.ts';
import { type ReadingStates, readStates } from './read-states.ts';
import { SNAPSHOT_EVERY, type Snapshot, SnapshotQueue, type Snapshots } from './snapshots.ts';
import { stateCache } from './state-cache.ts';
import { event } from './store-events.fixture.ts';

type Said = { readonly type: string; readonly data: { readonly cause: string } };

/** Depends on every event and on their order. */
const digest: Decider<never, Said, string> = {
  initial: '',
  decide: () => [],
  evolve: (state, { data }) => {
    if (state.startsWith('!')) throw new Error('nobody can go on from here');
    return `${(Number.parseInt(state || '0', 36) * 31 + Number(data.cause) + 7) % 1e9}`;
  },
};

const STREAM = 's';
const LENGTH = 3 * SNAPSHOT_EVERY + 20;

const filled = async (): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  const events = Array.from({ length: LENGTH }, (_, n) => event(STREAM, String(n)));
  await store.append({ stream: STREAM, root: STREAM, expectedVersion: 0, events });
  return store;
};

/** Keeps snapshots in this process, as a test wants them. */
const kept = (snapshots = new Map<string, Snapshot<string>>()): Snapshots<string> & { saved: typeof snapshots } => ({
  saved: snapshots,
  load: () => Promise.resolve(snapshots),
  save: (stream, snapshot) => Promise.resolve(void snapshots.set(stream, snapshot)),
});

const stateIn = async (reading: Omit<ReadingStates<never, Said, string>, 'decider'>) =>
  (await readStates({ ...reading, decider: digest }, [STREAM])).get(STREAM);

/** The snapshot that belongs to a version. */
const rightAt = async (store: MemoryEventStore, version: number): Promise<Snapshot<string>> => {
  const events = await store.readStream(STREAM, 1, version);
  const state = events.reduce((before, each) => digest.evolve(before, each as unknown as Said), digest.initial);
  return { state, version, eventHash: events.at(-1)?.hash ?? '' };
};

describe('the state of a stream', () => {
  test('is the same from any snapshot, right or wrong, as from the start', async () => {
    const store = await filled();
    const whole = await stateIn({ store });
    expect(whole).toMatchObject({ version: LENGTH });
    const wrong = fc.record({
      state: fc.string(),
      version: fc.integer({ min: 1, max: LENGTH + 5 }),
      eventHash: fc.string(),
    });
    const right = fc.integer({ min: 1, max: LENGTH });
    await fc.assert(
      fc.asyncProperty(fc.oneof(wrong, right), async (given) => {
        const snapshot = typeof given === 'number' ? await rightAt(store, given) : given;
        expect(await stateIn({ store, snapshots: kept(new Map([[STREAM, snapshot]])) })).toEqual(whole);
      }),
      { numRuns: 40 },
    );
  });

  test('is folded from the start when nothing can be gone on with from the snapshot', async () => {
    const store = await filled();
    const { version, eventHash } = await rightAt(store, SNAPSHOT_EVERY);
    const snapshots = kept(new Map([[STREAM, { state: '!', version, eventHash }]]));
    expect(await stateIn({ store, snapshots })).toEqual(await stateIn({ store }));
  });

  test('reads no more of a long stream than its first part and what came after the snapshot', async () => {
    const store = await filled();
    const snapshots = kept(new Map([[STREAM, await rightAt(store, LENGTH - 10)]]));
    let read = 0;
    const counting = {
      readStream: async (...asked: Parameters<MemoryEventStore['readStream']>) => {
        const events = await store.readStream(...asked);
        read += events.length;
        return events;
      },
      readStreams: async (...asked: Parameters<MemoryEventStore['readStreams']>) => {
        const streams = await store.readStreams(...asked);
        for (const events of streams.values()) read += events.length;
        return streams;
      },
    };
    expect(await stateIn({ store: counting, snapshots })).toEqual(await stateIn({ store }));
    expect(read).toBe(SNAPSHOT_EVERY + 11);
  });

  test('of a short stream asks for no snapshot', async () => {
    const store = new MemoryEventStore();
    await store.append({ stream: STREAM, root: STREAM, expectedVersion: 0, events: [event(STREAM, '1')] });
    const load = () => Promise.reject(new Error('asked'));
    expect(await stateIn({ store, snapshots: { ...kept(), load } })).toMatchObject({ version: 1 });
  });
});

describe('snapshots', () => {
  test('are made of streams that have grown long, once for each stretch, and of what is stored', async () => {
    const store = await filled();
    const snapshots = kept();
    const states = new SnapshotQueue(stateCache<string>(10));
    const saved = async (version: number): Promise<number | undefined> => {
      states.set(STREAM, { state: `state at ${version}`, version });
      await states.save(store, snapshots);
      return snapshots.saved.get(STREAM)?.version;
    };
    const first = SNAPSHOT_EVERY + 3;
    expect(await saved(SNAPSHOT_EVERY - 1)).toBeUndefined();
    expect(await saved(first)).toBe(first);
    expect(await saved(first + SNAPSHOT_EVERY - 1)).toBe(first);
    expect(await saved(first + SNAPSHOT_EVERY)).toBe(first + SNAPSHOT_EVERY);
    expect(await saved(LENGTH + SNAPSHOT_EVERY)).toBe(first + SNAPSHOT_EVERY);
    const [at] = await store.readStream(STREAM, first + SNAPSHOT_EVERY, first + SNAPSHOT_EVERY);
    expect(snapshots.saved.get(STREAM)?.eventHash).toBe(at?.hash);
  });

  test('are not made of a state that was let go of', async () => {
    const states = new SnapshotQueue(stateCache<string>(10));
    const snapshots = kept();
    states.set(STREAM, { state: 'never stored', version: SNAPSHOT_EVERY });
    states.delete(STREAM);
    await states.save(await filled(), snapshots);
    expect(snapshots.saved.size).toBe(0);
    expect(states.get(STREAM)).toBeUndefined();
  });
});
