import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Bus, Reader, Verdict } from './bus.ts';
import { answering, aReader, done, idsOf, Journal, publication } from './messaging.fixture.ts';

/** A broker under test. */
export interface BusWorld {
  readonly bus: Bus;
  /** The bus of another process on the same broker. */
  readonly other: Bus;
  /** What both wait before a failed offer is delivered again. */
  readonly failureDelayMs: number;
  /** Two more, of two processes on the same broker, for which a message counts as lost before it was unanswered for so long. */
  impatient(): Promise<{ readonly here: Bus; readonly there: Bus; readonly silenceMs: number }>;
  /** Takes the broker away and brings it back with what it had. */
  interrupt(): Promise<void>;
  close(): Promise<void>;
}

const later = (delayMs: number): Verdict => ({ verdict: 'later', delayMs, reason: 'spec' });
const failed: Verdict = { verdict: 'failed', error: 'broken' };

/** What every bus promises. Each adapter's spec calls it with a broker of its own. */
export const busContract = (open: () => Promise<BusWorld>): void => {
  let world: BusWorld;
  beforeEach(async () => {
    world = await open();
  });
  afterEach(() => world.close());

  const publish = (...ids: string[]): Promise<void> =>
    world.bus.publish(ids.map((id) => publication('thing_done', id)));

  describe('a delivery', () => {
    test('carries the event, its node_ready and who sent it', async () => {
      const offers = new Journal<unknown>();
      const reader = aReader({ name: 'svc__reader' });
      await world.bus.subscribe({
        ...reader,
        handle: async (given) => {
          for (const offer of given) offers.add(offer);
          return given.map(() => done);
        },
      });
      const answered = publication('thing_done', 'a');
      const event = { ...answered.offer.event, data: { text: 'nul \u0000, half \ud800' } };
      const sentBy = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const offer = { event, nodeReady: answered.offer.event, sentBy };
      await world.bus.publish([{ ...answered, offer }]);
      expect(await offers.until((all) => all.length === 1)).toEqual([offer]);
    });

    test('that is done does not come again', async () => {
      const reader = aReader({ name: 'svc__reader' });
      await world.bus.subscribe(reader);
      await publish('a');
      await reader.seen.until((seen) => seen.includes('a'));
      await publish('b');
      await reader.seen.until((seen) => seen.includes('b'));
      expect(reader.seen.entries).toEqual(['a', 'b']);
    });

    test('N11: that is put off comes again, and not before its delay', async () => {
      const times: number[] = [];
      const reader = answering({ name: 'svc__reader' }, (_offer, delivery) => {
        times.push(performance.now());
        return delivery === 1 ? later(300) : done;
      });
      await world.bus.subscribe(reader);
      await publish('a');
      await reader.seen.until((seen) => seen.length === 2);
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(299);
    });

    test('that is put off for long is never counted as a failure', async () => {
      const reader = answering({ name: 'svc__reader', maxFailures: 2 }, (_offer, delivery) =>
        delivery < 6 ? later(10) : done,
      );
      await world.bus.subscribe(reader);
      await publish('a');
      await reader.seen.until((seen) => seen.length === 6);
      expect(reader.dead.entries).toEqual([]);
    });

    test('in several types and classes reaches its reader', async () => {
      const reader = aReader({ name: 'svc__reader', types: ['thing_done', 'thing_begun'] });
      await world.bus.subscribe(reader);
      await world.bus.publish([
        publication('thing_done', 'a'),
        publication('thing_begun', 'b', { workClass: 'low' }),
        publication('thing_lost', 'c'),
        publication('thing_done', 'd', { workClass: 'low' }),
      ]);
      await reader.seen.until((seen) => seen.length === 3);
      expect([...reader.seen.entries].sort()).toEqual(['a', 'b', 'd']);
    });
  });

  describe('a handler that throws', () => {
    test('is offered everything again, however often, and nothing is dead-lettered', async () => {
      const reader = aReader({ name: 'svc__reader', maxFailures: 1 });
      let throws = 0;
      await world.bus.subscribe({
        ...reader,
        handle: async (offers) => {
          throws += 1;
          if (throws <= 2) throw new Error('the store is away');
          return reader.handle(offers, AbortSignal.abort());
        },
      });
      await publish('a', 'b');
      await reader.seen.until((seen) => seen.includes('a') && seen.includes('b'));
      expect(reader.dead.entries).toEqual([]);
    });
  });

  describe('an offer that fails', () => {
    test('N12: is dead-lettered exactly at the limit, once', async () => {
      const times: number[] = [];
      const reader = answering({ name: 'svc__reader', maxFailures: 3 }, ({ event }) => {
        times.push(performance.now());
        return event.id === 'bad' ? failed : done;
      });
      await world.bus.subscribe(reader);
      await publish('bad');
      expect(await reader.dead.until((dead) => dead.length === 1)).toEqual(['bad after 3: broken']);
      await publish('next');
      await reader.seen.until((seen) => seen.includes('next'));
      expect(reader.seen.entries).toEqual(['bad', 'bad', 'bad', 'next']);
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(world.failureDelayMs - 1);
    });

    test('A2: is no dead letter because it was published more often than it may fail', async () => {
      const reader = answering({ name: 'svc__reader', maxFailures: 2 }, (_offer, delivery) =>
        delivery === 1 ? failed : done,
      );
      await world.bus.subscribe(reader);
      for (let repeat = 0; repeat < 4; repeat += 1) await publish('a');
      await reader.seen.until((seen) => seen.length === 5);
      await publish('next');
      await reader.seen.until((seen) => seen.includes('next'));
      expect([reader.seen.count('a'), reader.dead.entries]).toEqual([5, []]);
    });

    test('does not hold up its siblings, and comes again alone', async () => {
      const batches = new Journal<string>();
      const reader = aReader({ name: 'svc__reader', maxFailures: 2 });
      await world.bus.subscribe({
        ...reader,
        handle: async (offers) => {
          batches.add(idsOf(offers).join(' '));
          return offers.map((offer) => (offer.event.id === 'bad' ? failed : done));
        },
      });
      await publish('a', 'bad', 'b');
      await reader.dead.until((dead) => dead.length === 1);
      const heard = batches.entries.join(' ').split(' ').sort();
      expect(heard).toEqual(['a', 'b', 'bad', 'bad']);
      expect(batches.entries.at(-1)).toBe('bad');
    });

    test('fails for one reader only', async () => {
      const failing = answering({ name: 'svc__failing', maxFailures: 3 }, () => failed);
      const content = aReader({ name: 'svc__content' });
      await world.bus.subscribe(failing);
      await world.bus.subscribe(content);
      await publish('a');
      await failing.dead.until((dead) => dead.length === 1);
      await publish('b');
      await content.seen.until((seen) => seen.includes('b'));
      expect(content.seen.entries).toEqual(['a', 'b']);
    });

    test('is offered again when its dead letter cannot be recorded', async () => {
      const reader = answering({ name: 'svc__reader', maxFailures: 2 }, () => failed);
      let refusals = 1;
      await world.bus.subscribe({
        ...reader,
        deadLetter: async (...letter) => {
          refusals -= 1;
          if (refusals >= 0) throw new Error('the store is away');
          await reader.deadLetter(...letter);
        },
      });
      await publish('a');
      expect(await reader.dead.until((dead) => dead.length === 1)).toEqual(['a after 2: broken']);
    });
  });

  describe('several readers', () => {
    test('N13: of one type each get everything', async () => {
      const first = aReader({ name: 'svc__first' });
      const second = aReader({ name: 'svc__second' });
      await world.bus.subscribe(first);
      await world.other.subscribe(second);
      await publish('a', 'b');
      await first.seen.until((seen) => seen.length === 2);
      await second.seen.until((seen) => seen.length === 2);
      expect([first.seen.entries, second.seen.entries]).toEqual([
        ['a', 'b'],
        ['a', 'b'],
      ]);
    });

    test('of one name share the work: each message is handled by one', async () => {
      const release = Promise.withResolvers<void>();
      const mode = { kind: 'pool', concurrency: 1 } as const;
      const here = answering({ name: 'svc__reader', mode }, () => release.promise.then(() => done));
      const there = answering({ name: 'svc__reader', mode }, () => release.promise.then(() => done));
      await world.bus.subscribe(here);
      await world.other.subscribe(there);
      await publish('a');
      await publish('b');
      await here.seen.until((seen) => seen.length === 1);
      await there.seen.until((seen) => seen.length === 1);
      release.resolve();
      const ids = Array.from({ length: 20 }, (_, n) => `c${n}`);
      for (const id of ids) await publish(id);
      const all = (): string[] => [...here.seen.entries, ...there.seen.entries];
      await Promise.race([here.seen, there.seen].map((journal) => journal.until(() => all().length === 22)));
      expect(all().sort()).toEqual(['a', 'b', ...ids].sort());
    });
  });

  describe('a pool', () => {
    test('runs as many offers at once as it may, and no more', async () => {
      const gate = Promise.withResolvers<void>();
      let running = 0;
      let most = 0;
      const reader = answering({ name: 'svc__reader', mode: { kind: 'pool', concurrency: 3 } }, async () => {
        running += 1;
        most = Math.max(most, running);
        await gate.promise;
        running -= 1;
        return done;
      });
      const witness = aReader({ name: 'svc__witness' });
      await world.bus.subscribe(reader);
      await world.bus.subscribe(witness);
      await publish('a', 'b', 'c', 'd', 'e', 'f', 'g');
      await reader.seen.until((seen) => seen.length >= 3);
      // By the time that another reader has heard one more message, a fourth offer would have been started.
      await publish('h');
      await witness.seen.until((seen) => seen.includes('h'));
      gate.resolve();
      await reader.seen.until((seen) => seen.length === 8);
      expect(most).toBe(3);
    });

    test('N10: keeps long work alive: it is offered to nobody else', async () => {
      const mode = { kind: 'pool', concurrency: 1 } as const;
      const buses = await world.impatient();
      const finish = Promise.withResolvers<void>();
      const here = answering({ name: 'svc__reader', mode }, () => finish.promise.then(() => done));
      await buses.here.subscribe(here);
      await buses.here.publish([publication('thing_done', 'long')]);
      await here.seen.until((seen) => seen.length === 1);
      const there = aReader({ name: 'svc__reader', mode });
      await buses.there.subscribe(there);
      const waited = new Journal<string>();
      setTimeout(() => waited.add('over'), buses.silenceMs);
      await waited.until((entries) => entries.length === 1);
      finish.resolve();
      await buses.here.publish([publication('thing_done', 'next')]);
      await Promise.race([here.seen, there.seen].map((journal) => journal.until((seen) => seen.includes('next'))));
      expect([...here.seen.entries, ...there.seen.entries].sort()).toEqual(['long', 'next']);
    });

    test('leaves work that waits for a slot here to a process that has one', async () => {
      const finish = Promise.withResolvers<void>();
      const mode = { kind: 'pool', concurrency: 1 } as const;
      const here = answering({ name: 'svc__reader', mode }, () => finish.promise.then(() => done));
      await world.bus.subscribe(here);
      await publish('long');
      await here.seen.until((seen) => seen.length === 1);
      await world.bus.publish([publication('thing_done', 'waiting', { workClass: 'low' })]);
      const there = aReader({ name: 'svc__reader', mode });
      await world.other.subscribe(there);
      expect(await there.seen.until((seen) => seen.length === 1)).toEqual(['waiting']);
      finish.resolve();
      expect(here.seen.entries).toEqual(['long']);
    });

    test('takes normal work before low work', async () => {
      const gate = Promise.withResolvers<void>();
      const reader = answering({ name: 'svc__reader', mode: { kind: 'pool', concurrency: 1 } }, ({ event }) =>
        event.id === 'first' ? gate.promise.then(() => done) : done,
      );
      await world.bus.subscribe(reader);
      await publish('first');
      await reader.seen.until((seen) => seen.length === 1);
      await world.bus.publish([
        publication('thing_done', 'low', { workClass: 'low' }),
        publication('thing_done', 'normal'),
      ]);
      gate.resolve();
      expect(await reader.seen.until((seen) => seen.length === 3)).toEqual(['first', 'normal', 'low']);
    });
  });

  describe('draining', () => {
    test.each<[string, Reader['mode']]>([
      ['pool', { kind: 'pool', concurrency: 1 }],
      ['batch', { kind: 'batch', max: 1 }],
    ])(
      'N25: a %s lets work in hand finish, takes no new work, and leaves that to others at once',
      async (_kind, mode) => {
        const finish = Promise.withResolvers<void>();
        const reader = answering({ name: 'svc__reader', mode }, () => finish.promise.then(() => done));
        const subscription = await world.bus.subscribe(reader);
        await publish('in hand');
        await reader.seen.until((seen) => seen.length === 1);
        // A request for low work is open: this one comes here, and has to be given back.
        await world.bus.publish([publication('thing_done', 'waiting', { workClass: 'low' })]);
        const drained = subscription.drain(AbortSignal.timeout(10_000));
        expect(subscription.healthy()).toBe(false);
        finish.resolve();
        await drained;
        expect(reader.seen.entries).toEqual(['in hand']);
        const successor = aReader({ name: 'svc__reader', mode });
        await world.other.subscribe(successor);
        const began = performance.now();
        expect(await successor.seen.until((seen) => seen.length === 1)).toEqual(['waiting']);
        expect(performance.now() - began).toBeLessThan(5_000);
      },
    );

    test('that runs out of time tells the handler, and lets it say how its work ended', async () => {
      const told = new Journal<string>();
      const subscription = await world.bus.subscribe({
        ...aReader({ name: 'svc__reader', mode: { kind: 'pool', concurrency: 1 } }),
        handle: async (_offers, signal) => {
          told.add('began');
          await new Promise((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 50)));
          told.add('stored');
          return [done];
        },
      });
      await publish('long');
      await told.until((entries) => entries.length === 1);
      await subscription.drain(AbortSignal.timeout(100));
      expect(told.entries).toEqual(['began', 'stored']);
    });
  });

  describe('a re-offer', () => {
    test('A1, N3, N4: of an event that was acked a moment ago arrives', async () => {
      const reader = aReader({ name: 'svc__reader' });
      await world.bus.subscribe(reader);
      await publish('a');
      await reader.seen.until((seen) => seen.length === 1);
      await world.bus.publish([publication('thing_done', 'a', { reoffer: 'healer 1' })]);
      expect(await reader.seen.until((seen) => seen.length === 2)).toEqual(['a', 'a']);
    });
  });

  describe('an interruption', () => {
    test('N18, A18: is overcome without hands: publishing and reading go on', async () => {
      const reader = aReader({ name: 'svc__reader' });
      const heard = new Journal<string>();
      const subscription = await world.bus.subscribe(reader);
      await world.bus.listen(['thing_done'], (offer) => heard.add(offer.event.id));
      await publish('before');
      await reader.seen.until((seen) => seen.includes('before'));
      await world.interrupt();
      await publish('after');
      await reader.seen.until((seen) => seen.includes('after'));
      await heard.until((entries) => entries.includes('after'));
      expect(subscription.healthy()).toBe(true);
    });
  });

  test('a closed bus is unhealthy and publishes nothing', async () => {
    await world.bus.close();
    expect(world.bus.healthy()).toBe(false);
    await expect(publish('a')).rejects.toThrow();
  });
};
