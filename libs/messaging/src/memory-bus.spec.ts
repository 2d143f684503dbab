import { describe, expect, test } from '@jest/globals';
import { addressedContract } from './addressed.contract.ts';
import { busContract } from './bus.contract.ts';
import type { Bus } from './bus.ts';
import { backlogContract } from './bus-backlog.contract.ts';
import { type DeliveryPolicy, everythingTwice, firstDeliveryLost, newestFirst } from './delivery-policy.ts';
import { listeningContract } from './listening.contract.ts';
import { memoryBus } from './memory-bus.ts';
import { answering, aReader, done, manualClock, publication, realClock, turn } from './messaging.fixture.ts';

const silent = (): void => undefined;

describe('the bus in memory', () => {
  const open = async () => {
    const bus = memoryBus({ clock: realClock, report: silent, failureDelayMs: () => 50 });
    return {
      bus,
      other: bus,
      failureDelayMs: 50,
      impatient: async () => ({ here: bus, there: bus, silenceMs: 100 }),
      interrupt: () => Promise.resolve(),
      close: () => bus.close(),
    };
  };
  busContract(open);
  addressedContract(open);
  listeningContract(open);

  describe('on a clock that stands still', () => {
    test('what is put off arrives at its time and not a moment before', async () => {
      const clock = manualClock();
      const bus = memoryBus({ clock, report: silent });
      const reader = answering({ name: 'svc__reader' }, (_offer, delivery) =>
        delivery === 1 ? { verdict: 'later', delayMs: 5_000, reason: 'spec' } : done,
      );
      await bus.subscribe(reader);
      await bus.publish([publication('thing_done', 'a')]);
      await turn();
      await clock.advance(4_999);
      expect(reader.seen.entries).toEqual(['a']);
      await clock.advance(1);
      expect(reader.seen.entries).toEqual(['a', 'a']);
    });

    test('a failure is tried again after 1 s, then after 2 s', async () => {
      const clock = manualClock();
      const bus = memoryBus({ clock, report: silent });
      const reader = answering({ name: 'svc__reader', maxFailures: 3 }, () => ({ verdict: 'failed', error: 'broken' }));
      await bus.subscribe(reader);
      await bus.publish([publication('thing_done', 'a')]);
      await turn();
      await clock.advance(999);
      expect(reader.seen.entries).toHaveLength(1);
      await clock.advance(1);
      expect(reader.seen.entries).toHaveLength(2);
      await clock.advance(1_999);
      expect(reader.dead.entries).toEqual([]);
      await clock.advance(1);
      expect(reader.dead.entries).toEqual(['a after 3: broken']);
    });

    test('a reader whose handler throws pauses longer each time, at most 30 s, and forgets it after a success', async () => {
      const clock = manualClock();
      const bus = memoryBus({ clock, report: silent });
      const reader = aReader({ name: 'svc__reader' });
      let isAway = true;
      let calls = 0;
      await bus.subscribe({
        ...reader,
        handle: async (offers, signal) => {
          calls += 1;
          if (isAway) throw new Error('away');
          return reader.handle(offers, signal);
        },
      });
      await bus.publish([publication('thing_done', 'a')]);
      await turn();
      for (const pause of [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
        const before = calls;
        await clock.advance(pause - 1);
        expect(calls).toBe(before);
        await clock.advance(1);
        expect(calls).toBe(before + 1);
      }
      isAway = false;
      await clock.advance(30_000);
      expect(reader.seen.entries).toEqual(['a']);
      isAway = true;
      await bus.publish([publication('thing_done', 'b')]);
      await turn();
      const before = calls;
      await clock.advance(250);
      expect(calls).toBe(before + 1);
    });
  });

  describe('under a delivery policy', () => {
    const heardUnder = async (policy: DeliveryPolicy, act: (bus: Bus) => Promise<void>): Promise<string[]> => {
      const bus = memoryBus({ clock: manualClock(), report: silent, policy });
      const reader = aReader({ name: 'svc__reader' });
      await bus.subscribe(reader);
      await act(bus);
      await turn();
      return [...reader.seen.entries];
    };
    const three = ['a', 'b', 'c'].map((id) => publication('thing_done', id));

    test('A4, N26: every message can come twice', async () => {
      expect(await heardUnder(everythingTwice, (bus) => bus.publish(three))).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
    });

    test('N7: the newest can come first', async () => {
      expect(await heardUnder(newestFirst, (bus) => bus.publish(three))).toEqual(['c', 'b', 'a']);
    });

    test('every first delivery can be lost, so that only re-offers arrive', async () => {
      const heard = await heardUnder(firstDeliveryLost(), async (bus) => {
        await bus.publish(three);
        await bus.publish([publication('thing_done', 'b', { reoffer: 'healer 1' })]);
      });
      expect(heard).toEqual(['b']);
    });
  });

  backlogContract(async () => memoryBus({ clock: realClock, report: silent }));

  test('a drain that has run out of time does not wait long for a handler that does not listen', async () => {
    const bus = memoryBus({ clock: realClock, report: silent });
    const reader = aReader({ name: 'svc__reader', mode: { kind: 'pool', concurrency: 1 } });
    const handle = (): Promise<never> => {
      reader.seen.add('began');
      return new Promise(() => undefined);
    };
    const subscription = await bus.subscribe({ ...reader, handle });
    await bus.publish([publication('thing_done', 'endless')]);
    await reader.seen.until((seen) => seen.length === 1);
    const began = performance.now();
    await subscription.drain(AbortSignal.timeout(50));
    expect(performance.now() - began).toBeLessThan(4_500);
  });
});
