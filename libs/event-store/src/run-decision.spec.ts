import type { Decider } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Decision } from './decision-plan.ts';
import type { Append, AppendOutcome } from './event-store.ts';
import { MemoryEventStore } from './memory-event-store.ts';
import { AppendRejected, DecisionContended, type DecisionShell, runDecision, runDecisions } from './run-decision.ts';
import { stateCache } from './state-cache.ts';

/** A till: takes coins until it is full, ignores nothing, refuses debts. */
type Coin = { readonly type: 'coin_taken'; readonly data: { readonly value: number } };
interface Take {
  readonly value: number;
}
const till: Decider<Take, Coin, number> = {
  initial: 0,
  decide: ({ value }, sum) => {
    if (value < 0) throw new Refused('coin_negative', String(value));
    if (value === 13) throw new TypeError('thirteen');
    if (sum + value > 100) throw new Refused('till_full', String(sum));
    return value === 0 ? [] : [{ type: 'coin_taken', data: { value } }];
  },
  evolve: (sum, event) => (event.type === 'coin_taken' ? sum + event.data.value : sum),
};

/** Counts what reaches the store, and lets a test act just before an append. */
class WatchedStore extends MemoryEventStore {
  reads = 0;
  statements: (readonly Append[])[] = [];
  beforeAppend: () => Promise<void> = () => Promise.resolve();

  override async appendAll(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    this.statements.push(appends);
    await this.beforeAppend();
    return super.appendAll(appends);
  }
  override readStream(stream: string, fromVersion?: number) {
    this.reads += 1;
    return super.readStream(stream, fromVersion);
  }
  override readStreams(streams: readonly string[]) {
    this.reads += 1;
    return Promise.all(streams.map(async (name) => [name, await super.readStream(name)] as const)).then(
      (entries) => new Map(entries),
    );
  }
}

const take = (value: number, cause: string, stream = 'till-1'): Decision<Take> => ({
  stream,
  root: stream,
  command: { value },
  cause: { id: cause, time: '2026-01-02T03:04:05.006Z', actor: 'local', correlation_id: stream },
});

describe('running decisions', () => {
  let store: WatchedStore;
  const shellOf = (): DecisionShell<Take, Coin, number> => ({
    store,
    decider: till,
    clock: { now: () => new Date('2026-01-02T03:04:06.000Z') },
    handler: 'till__take',
    states: stateCache(10),
    schemaVersionOf: () => 1,
  });
  let shell: DecisionShell<Take, Coin, number>;
  const values = async (stream = 'till-1') => (await store.readStream(stream)).map(({ data }) => data);
  const others = { time: '2026-01-02T03:04:05.006Z' };
  /** Another process takes a coin. */
  const elsewhere = (cause: string, value = 1) => runDecision(shellOf(), take(value, `${others.time} ${cause}`));

  beforeEach(() => {
    store = new WatchedStore();
    shell = shellOf();
  });

  test('stores what was decided, signed by cause and handler', async () => {
    const { events } = await runDecision(shell, take(5, 'a'));
    expect(events).toMatchObject([
      {
        type: 'coin_taken',
        schema_version: 1,
        data: { value: 5 },
        stream: 'till-1',
        version: 1,
        occurred_at: '2026-01-02T03:04:06.000Z',
        metadata: { causation_id: 'a', correlation_id: 'till-1', producer: 'till__take', actor: 'local' },
      },
    ]);
    expect(await store.readStream('till-1')).toEqual(events);
  });

  test('reads a stream once, and never before an append while the cache knows it', async () => {
    for (const cause of ['a', 'b', 'c']) await runDecision(shell, take(1, cause));
    expect(store.reads).toBe(1);
    expect(await values()).toHaveLength(3);
  });

  test('decides on the history that others wrote before', async () => {
    await elsewhere('x', 90);
    await expect(runDecision(shell, take(20, 'a'))).rejects.toMatchObject({ code: 'till_full' });
  });

  test('throws a refusal through', async () => {
    await expect(runDecision(shell, take(-1, 'a'))).rejects.toBeInstanceOf(Refused);
  });

  test('throws the bug of a decider through', async () => {
    await expect(runDecision(shell, take(13, 'a'))).rejects.toBeInstanceOf(TypeError);
  });

  test('nothing decided appends nothing', async () => {
    expect(await runDecision(shell, take(0, 'a'))).toEqual({ events: [] });
    expect(store.statements).toEqual([]);
  });

  describe('when another process was faster', () => {
    test('decides again on what it wrote', async () => {
      await runDecision(shell, take(1, 'a'));
      await elsewhere('x', 95);
      await expect(runDecision(shell, take(5, 'b'))).rejects.toMatchObject({ code: 'till_full' });
      expect(await runDecision(shell, take(4, 'c'))).toMatchObject({ events: [{ version: 3 }] });
    });

    test('S-T102 does not say "already so" or refuse on a state that is out of date', async () => {
      await runDecision(shell, take(100, 'a'));
      const refund: Decider<Take, Coin, number> = {
        ...till,
        decide: ({ value }) => [{ type: 'coin_taken', data: { value } }],
      };
      await runDecision({ ...shellOf(), decider: refund }, take(-50, 'x'));
      expect(await runDecision(shell, take(20, 'b'))).toMatchObject({ events: [{ version: 3 }] });
    });

    test('P22 is tried again three times and then left to a later try', async () => {
      let round = 0;
      store.beforeAppend = async () => {
        const before = store.beforeAppend;
        store.beforeAppend = () => Promise.resolve();
        round += 1;
        await elsewhere(String(round));
        store.beforeAppend = before;
      };
      await expect(runDecision(shell, take(1, 'a'))).rejects.toBeInstanceOf(DecisionContended);
      expect(round).toBe(4);
      store.beforeAppend = () => Promise.resolve();
      expect(await runDecision(shell, take(1, 'a'))).toMatchObject({ events: [{ version: 5 }] });
    });
  });

  test('a second, different decision for one cause is a bug that is named', async () => {
    await runDecision(shell, take(1, 'a'));
    await expect(runDecision(shell, take(2, 'a'))).rejects.toMatchObject({
      name: 'AppendRejected',
      code: 'duplicate_event_id',
    });
    expect(await runDecision(shell, take(2, 'b'))).toMatchObject({ events: [{ version: 2 }] });
  });

  test('S-T104 after a fault of the store the stream is read again, and the decision made on what is there', async () => {
    await runDecision(shell, take(1, 'a'));
    store.beforeAppend = async () => {
      store.beforeAppend = () => Promise.resolve();
      await elsewhere('x', 95);
      throw new Error('connection lost');
    };
    await expect(runDecision(shell, take(5, 'b'))).rejects.toThrow('connection lost');
    await expect(runDecision(shell, take(5, 'b'))).rejects.toMatchObject({ code: 'till_full' });
  });

  describe('many at once', () => {
    test('go out in one call, one outcome each in the order given', async () => {
      const outcomes = await runDecisions(shell, [
        take(1, 'a', 'till-1'),
        take(2, 'b', 'till-2'),
        take(3, 'c', 'till-1'),
      ]);
      expect(outcomes).toMatchObject([
        { outcome: 'decided', events: [{ stream: 'till-1', version: 1, data: { value: 1 } }] },
        { outcome: 'decided', events: [{ stream: 'till-2', version: 1, data: { value: 2 } }] },
        { outcome: 'decided', events: [{ stream: 'till-1', version: 2, data: { value: 3 } }] },
      ]);
      expect(store.statements).toHaveLength(1);
      expect(store.reads).toBe(1);
    });

    test('each is decided on what the one before left', async () => {
      const outcomes = await runDecisions(shell, [take(60, 'a'), take(60, 'b'), take(40, 'c')]);
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['decided', 'refused', 'decided']);
    });

    test('a bug of one stops no other', async () => {
      const outcomes = await runDecisions(shell, [take(1, 'a'), take(13, 'b'), take(0, 'c'), take(2, 'd')]);
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['decided', 'failed', 'decided', 'decided']);
      expect(await values()).toEqual([{ value: 1 }, { value: 2 }]);
    });

    test('what builds on a rejected one is decided again without it', async () => {
      await runDecision(shell, take(1, 'a'));
      const outcomes = await runDecisions(shell, [take(2, 'b'), take(0, 'n'), take(90, 'a'), take(30, 'c')]);
      expect(outcomes).toMatchObject([
        { outcome: 'decided', events: [{ version: 2 }] },
        { outcome: 'decided', events: [] },
        { outcome: 'failed', error: expect.any(AppendRejected) },
        { outcome: 'decided', events: [{ version: 3 }] },
      ]);
      expect(await values()).toEqual([{ value: 1 }, { value: 2 }, { value: 30 }]);
    });

    test('after a conflict the whole stream is decided again, refusals before it too', async () => {
      await runDecision(shell, take(60, 'a'));
      const refund: Decider<Take, Coin, number> = {
        ...till,
        decide: ({ value }) => [{ type: 'coin_taken', data: { value } }],
      };
      await runDecision({ ...shellOf(), decider: refund }, take(-50, 'x'));
      const outcomes = await runDecisions(shell, [take(60, 'b'), take(1, 'c')]);
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['decided', 'decided']);
      expect(await values()).toEqual([{ value: 60 }, { value: -50 }, { value: 60 }, { value: 1 }]);
    });

    test('F7 S-T100 S-T101 a stream that nobody can fold fails alone, and nothing is appended to it', async () => {
      const strict: Decider<Take, Coin, number> = {
        ...till,
        evolve: (sum, { data }) => {
          if (typeof data.value !== 'number') throw new TypeError('no coin');
          return sum + data.value;
        },
      };
      await elsewhere('from a newer release', '5 ct' as unknown as number);
      const outcomes = await runDecisions({ ...shell, decider: strict }, [take(1, 'a'), take(2, 'b', 'till-2')]);
      expect(outcomes).toMatchObject([
        { outcome: 'failed', error: { message: 'no coin' } },
        { outcome: 'decided', events: [{ stream: 'till-2' }] },
      ]);
      expect(await values()).toHaveLength(1);
    });

    test('none is no work', async () => {
      expect(await runDecisions(shell, [])).toEqual([]);
    });
  });

  test('the cache forgets the stream that was not used for longest', async () => {
    const small = { ...shell, states: stateCache<number>(2) };
    for (const stream of ['till-1', 'till-2', 'till-1', 'till-3'])
      await runDecision(small, take(1, `${stream} ${store.reads} ${store.statements.length}`, stream));
    expect(store.reads).toBe(3);
    await runDecision(small, take(1, 'again', 'till-1'));
    expect(store.reads).toBe(3);
    await runDecision(small, take(1, 'again', 'till-2'));
    expect(store.reads).toBe(4);
  });
});
