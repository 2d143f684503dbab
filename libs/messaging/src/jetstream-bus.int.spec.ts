import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { addressedContract } from './addressed.contract.ts';
import { busContract } from './bus.contract.ts';
import type { Offer } from './bus.ts';
import { backlogContract } from './bus-backlog.contract.ts';
import type { JetStreamBus, JetStreamBusOptions } from './jetstream-bus.ts';
import { listeningContract } from './listening.contract.ts';
import { anEvent, answering, aReader, done, Journal, publication } from './messaging.fixture.ts';
import { busOn, type PrivateNats, privateNats } from './private-nats.fixture.ts';

// A server that is bounced or frozen takes seconds to come back on a busy machine.
jest.setTimeout(60_000);

let nats: PrivateNats;
beforeAll(async () => {
  nats = await privateNats(process.env.PATH ?? '');
}, 200_000);
afterAll(() => nats.remove());

const opened: JetStreamBus[] = [];

const openBus = (rest: Partial<JetStreamBusOptions> = {}): JetStreamBus => {
  const bus = busOn(nats, rest);
  opened.push(bus);
  return bus;
};

afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
});

/** A healer in small: what is published while a consumer is missing is lost. */
const publishUntilSeen = async (bus: JetStreamBus, seen: Journal<string>): Promise<void> => {
  const publishing = setInterval(() => {
    bus.publish([publication('thing_done', 'again')]).catch(() => undefined);
  }, 100);
  await seen.until((ids) => ids.includes('again')).finally(() => clearInterval(publishing));
};

describe('the bus on JetStream', () => {
  const open = async () => {
    const namespace = `spec-${randomUUID()}`;
    const [bus, other] = [openBus({ namespace }), openBus({ namespace })];
    await Promise.all([bus.ready(10_000), other.ready(10_000)]);
    return {
      bus,
      other,
      failureDelayMs: 50,
      impatient: async () => {
        const rest = { namespace: `spec-${randomUUID()}`, ackWaitMs: 3_000 };
        const [here, there] = [openBus(rest), openBus(rest)];
        await Promise.all([here.ready(10_000), there.ready(10_000)]);
        return { here, there, silenceMs: 4_000 };
      },
      interrupt: async () => {
        await nats.bounce();
        await Promise.all([bus.ready(10_000), other.ready(10_000)]);
      },
      close: () => Promise.resolve(),
    };
  };
  busContract(open);
  addressedContract(open);
  listeningContract(open);

  describe('its messages', () => {
    test('N24: one per turn and destination, at most 100 events and 512 KiB each', async () => {
      const bus = openBus({ namespace: 'packing' });
      await bus.ready(10_000);
      const many = Array.from({ length: 230 }, (_, n) => publication('thing_done', `e${n}`));
      const heavy = (id: string): Offer => ({
        event: anEvent('thing_begun', id, { text: 'x'.repeat(300_000) }),
        nodeReady: null,
      });
      const two = ['h1', 'h2'].map((id) => publication('thing_begun', id, { offer: heavy(id) }));
      await Promise.all([...many.map((one) => bus.publish([one])), bus.publish(two)]);
      const info = await nats.withConnection(async (connection) =>
        (await jetstreamManager(connection)).streams.info('WORK_packing', { subjects_filter: '>' }),
      );
      expect(info.state.subjects).toEqual({
        'packing.work.thing_done.normal': 3,
        'packing.work.thing_begun.normal': 2,
      });
    });

    test('long work travels alone', async () => {
      const bus = openBus({ namespace: 'spreading', spread: ({ event }) => event.id.startsWith('long') });
      await bus.ready(10_000);
      await bus.publish(['long 1', 'short 1', 'long 2', 'short 2'].map((id) => publication('thing_done', id)));
      const info = await nats.withConnection(async (connection) =>
        (await jetstreamManager(connection)).streams.info('WORK_spreading'),
      );
      expect(info.state.messages).toBe(3);
    });

    test('N24: one that is too big for the server carries a pointer, and the reader gets the event', async () => {
      const event = anEvent('thing_done', 'huge', { text: 'x'.repeat(1_200_000) });
      const bus = openBus({ load: async (at) => ({ ...event, ...at }) });
      const seen = new Journal<number>();
      await bus.subscribe({
        ...aReader({ name: 'svc__reader' }),
        handle: async (offers) => {
          for (const offer of offers) seen.add(JSON.stringify(offer).length);
          return offers.map(() => done);
        },
      });
      await bus.publish([publication('thing_done', 'huge', { offer: { event, nodeReady: event } })]);
      expect((await seen.until((all) => all.length === 1))[0]).toBeGreaterThan(2_400_000);
    });

    test('one that cannot be read is reported and ends there', async () => {
      const reports = new Journal<string>();
      const bus = openBus({ namespace: 'poison', report: (problem) => reports.add(problem) });
      const reader = aReader({ name: 'svc__reader' });
      await bus.subscribe(reader);
      await nats.withConnection(async (connection) => {
        connection.publish('poison.work.thing_done.normal', '{"offers":');
        await connection.flush();
      });
      await bus.publish([publication('thing_done', 'sound')]);
      await reader.seen.until((seen) => seen.length === 1);
      expect(reports.entries).toEqual(['A message on poison.work.thing_done.normal cannot be read']);
    });

    test('one whose event is of another type than its subject fails as often as any, and is a dead letter', async () => {
      const bus = openBus({ namespace: 'mistyped' });
      const failing = answering({ name: 'svc__reader' }, () => ({ verdict: 'failed', error: 'unknown type' }));
      await bus.subscribe(failing);
      const offers = [{ event: anEvent('thing_dreamt_of', 'strange'), node_ready: null }];
      await nats.withConnection(async (connection) => {
        connection.publish('mistyped.work.thing_done.normal', JSON.stringify({ offers }));
        await connection.flush();
      });
      await failing.dead.until((dead) => dead.length === 1);
      expect(failing.dead.entries).toEqual(['strange after 3: unknown type']);
    });
  });

  describe('when the broker is away', () => {
    test('at start: says which address does not answer, tries on, and comes up by itself', async () => {
      const reports = new Journal<string>();
      const url = nats.url;
      let bus: JetStreamBus | null = null;
      await nats.bounce(async () => {
        bus = openBus({ url, report: (problem) => reports.add(problem) });
        await expect(bus.ready(500)).rejects.toThrow(`NATS at ${url} cannot be used: `);
        await expect(bus.publish([publication('thing_done', 'a')])).rejects.toThrow(url);
        expect(reports.entries).toHaveLength(1);
      });
      const late = bus ?? openBus();
      await late.ready(10_000);
      expect(late.healthy()).toBe(true);
    });

    test('in between: publishing rejects, health says so, and readers go on within 5 s of its return', async () => {
      const bus = openBus();
      const reader = aReader({ name: 'svc__reader' });
      const subscription = await bus.subscribe(reader);
      await nats.bounce(async () => {
        await expect(bus.publish([publication('thing_done', 'lost')])).rejects.toThrow(nats.url);
        expect([bus.healthy(), subscription.healthy()]).toEqual([false, false]);
      });
      const back = performance.now();
      await bus.ready(10_000);
      await bus.publish([publication('thing_done', 'after')]);
      await reader.seen.until((seen) => seen.includes('after'));
      expect(performance.now() - back).toBeLessThan(5_000);
    });

    test('N16: frozen, with its connection open: the reader is deaf and says so, and hears again afterwards', async () => {
      const reports = new Journal<string>();
      const bus = openBus({ report: (problem) => reports.add(problem) });
      const reader = aReader({ name: 'svc__reader' });
      const subscription = await bus.subscribe(reader);
      const pid = await nats.pid();
      process.kill(pid, 'SIGSTOP');
      try {
        await reports.until((all) => all.some((problem) => problem.includes('no heartbeat')));
        expect(subscription.healthy()).toBe(false);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await bus.publish([publication('thing_done', 'after')]);
      expect(await reader.seen.until((seen) => seen.length === 1)).toEqual(['after']);
    });

    test('N1, N2, A5: and comes back wiped, everything is set up anew, and what was acknowledged and lost arrives when offered again', async () => {
      const bus = openBus();
      const reader = answering({ name: 'svc__reader', mode: { kind: 'pool', concurrency: 1 } }, ({ event }) =>
        event.id === 'in hand' ? new Promise(() => undefined) : done,
      );
      const subscription = await bus.subscribe(reader);
      await bus.publish([publication('thing_done', 'in hand')]);
      await reader.seen.until((seen) => seen.length === 1);
      await bus.publish([publication('thing_done', 'acknowledged')]);
      await nats.bounce(nats.wipe);
      await bus.ready(10_000);
      await subscription.drain(AbortSignal.abort());
      const again = aReader({ name: 'svc__reader' });
      await bus.subscribe(again);
      await bus.publish([publication('thing_done', 'after')]);
      expect(await again.seen.until((seen) => seen.length === 1)).toEqual(['after']);
      await bus.publish([publication('thing_done', 'acknowledged', { reoffer: 'healer 1' })]);
      expect(await again.seen.until((seen) => seen.length === 2)).toEqual(['after', 'acknowledged']);
    });

    test('A5: and comes back with consumers that are ahead of what it still has, what is published arrives', async () => {
      const bus = openBus({ namespace: 'behind', stallLookMs: 500 });
      const reader = aReader({ name: 'svc__reader' });
      await bus.subscribe(reader);
      const many = Array.from({ length: 1_000 }, (_, index) => `before ${index}`);
      for (const id of many) await bus.publish([publication('thing_done', id)]);
      await reader.seen.until((seen) => seen.length === many.length);
      const messages = join(nats.folder, 'store', 'jetstream', '$G', 'streams', 'WORK_behind', 'msgs');
      await nats.bounce(() => rm(messages, { recursive: true }));
      await bus.ready(20_000);
      await publishUntilSeen(bus, reader.seen);
    });

    test('A18: twenty times under load, each consumer goes on', async () => {
      const buses = [openBus({ namespace: 'bounced' }), openBus({ namespace: 'bounced' })];
      const mode = { kind: 'pool', concurrency: 4 } as const;
      const readers = [
        aReader({ name: 'svc__batch' }),
        aReader({ name: 'svc__pool', mode }),
        aReader({ name: 'svc__third' }),
      ];
      for (const [index, reader] of readers.entries()) await buses[index % 2]?.subscribe(reader);
      const loading = setInterval(() => {
        for (const bus of buses) bus.publish([publication('thing_done', 'load')]).catch(() => undefined);
      }, 20);
      const waits: number[] = [];
      for (let round = 1; round <= 20; round += 1) {
        await nats.bounce();
        const back = performance.now();
        const [bus] = buses;
        const offering = setInterval(() => {
          bus?.publish([publication('thing_done', `round ${round}`)]).catch(() => undefined);
        }, 50);
        const resumed = readers.map(async ({ seen }) => {
          await seen.until((ids) => ids.includes(`round ${round}`));
          waits.push(performance.now() - back);
        });
        await Promise.all(resumed).finally(() => clearInterval(offering));
      }
      clearInterval(loading);
      waits.sort((a, b) => a - b);
      const [middle = Number.NaN, longest = Number.NaN] = [waits[30], waits.at(-1)];
      process.stderr.write(
        `A18: consumers resumed after ${Math.round(middle)} ms, at most ${Math.round(longest)} ms\n`,
      );
      expect(waits).toHaveLength(60);
      expect(middle).toBeLessThan(5_000);
    });
  });

  describe('when it has no room', () => {
    test('N19: what fell out of a full stream unread arrives when it is offered again', async () => {
      const bus = openBus({ namespace: 'full', maxBytes: 1024 * 1024 });
      const away = await bus.subscribe(aReader({ name: 'svc__reader' }));
      await away.drain(AbortSignal.timeout(1_000));
      const heavy = (id: string) => {
        const event = anEvent('thing_done', id, { text: 'x'.repeat(300_000) });
        return publication('thing_done', id, { offer: { event, nodeReady: null } });
      };
      for (const id of ['a', 'b', 'c', 'd', 'e']) await bus.publish([heavy(id)]);
      const reader = aReader({ name: 'svc__reader' });
      await bus.subscribe(reader);
      await reader.seen.until((ids) => ids.includes('e'));
      expect(reader.seen.entries).not.toContain('a');
      await bus.publish([heavy('a')]);
      await reader.seen.until((ids) => ids.includes('a'));
    });

    test('N20: on its disk for what the stream may take, it says so, and nothing pretends to be published', async () => {
      const reports = new Journal<string>();
      const bus = openBus({ maxBytes: 2 ** 52, report: (problem) => reports.add(problem) });
      await expect(bus.ready(1_000)).rejects.toThrow(/NATS at .+ cannot be used: .*storage/);
      await expect(bus.publish([publication('thing_done', 'a')])).rejects.toThrow('storage');
      expect([bus.healthy(), reports.entries.length]).toEqual([false, 1]);
    });
  });

  describe('when something of it is deleted on the broker', () => {
    test('N17: a consumer is created again', async () => {
      const bus = openBus({ namespace: 'consumer-gone' });
      const reader = aReader({ name: 'svc__reader' });
      await bus.subscribe(reader);
      await nats.withConnection(async (connection) => {
        await (await jetstreamManager(connection)).consumers.delete(
          'WORK_consumer-gone',
          'svc__reader__thing_done__normal',
        );
      });
      await publishUntilSeen(bus, reader.seen);
    });

    test('N2: the stream is created again, by the next publish, with its consumers', async () => {
      const bus = openBus({ namespace: 'stream-gone' });
      const reader = aReader({ name: 'svc__reader' });
      await bus.subscribe(reader);
      await nats.withConnection(async (connection) => {
        await (await jetstreamManager(connection)).streams.delete('WORK_stream-gone');
      });
      await publishUntilSeen(bus, reader.seen);
    });
  });

  describe('when something of it is broken on the broker', () => {
    test('N2: a stream whose files were removed under the server is made anew', async () => {
      const bus = openBus({ namespace: 'files-gone', stallLookMs: 500 });
      const reader = aReader({ name: 'svc__reader' });
      await bus.subscribe(reader);
      const files = join(nats.folder, 'store', 'jetstream', '$G', 'streams', 'WORK_files-gone');
      await rm(files, { recursive: true });
      await publishUntilSeen(bus, reader.seen);
    });

    test('N16: a consumer that waits for acks that will never come is made anew', async () => {
      const reports = new Journal<string>();
      const bus = openBus({ namespace: 'stalled', stallLookMs: 500, report: (problem) => reports.add(problem) });
      const reader = aReader({ name: 'svc__reader' });
      const subscription = await bus.subscribe(reader);
      await subscription.drain(AbortSignal.timeout(1_000));
      await bus.publish([publication('thing_done', 'never acked')]);
      const [stream, durable] = ['WORK_stalled', 'svc__reader__thing_done__normal'];
      await nats.withConnection(async (connection) => {
        await (await jetstream(connection).consumers.get(stream, durable)).next({ expires: 2_000 });
      });
      const again = aReader({ name: 'svc__reader' });
      await bus.subscribe(again);
      await nats.withConnection(async (connection) => {
        const hour = 3_600_000_000_000;
        const manager = await jetstreamManager(connection);
        await manager.consumers.update(stream, durable, { max_ack_pending: 1, ack_wait: hour });
      });
      await bus.publish([publication('thing_done', 'stuck')]);
      await reports.until((all) => all.some((problem) => problem.includes('delivered nothing')));
      await publishUntilSeen(bus, again.seen);
    });
  });

  describe('its consumers', () => {
    test('N8, N10, N12, N13, N14, N15: explicit acks, no back-off, no limits that stop delivery, one filter, no work queue; setting up twice changes nothing', async () => {
      const first = openBus({ namespace: 'consumers' });
      await first.subscribe(aReader({ name: 'svc__reader' }));
      const second = openBus({ namespace: 'consumers', maxBytes: 16 * 1024 * 1024 });
      await second.subscribe(aReader({ name: 'svc__reader' }));
      const [stream, consumer] = await nats.withConnection(async (connection) => {
        const manager = await jetstreamManager(connection);
        const durable = 'svc__reader__thing_done__low';
        return [await manager.streams.info('WORK_consumers'), await manager.consumers.info('WORK_consumers', durable)];
      });
      expect(stream.config).toMatchObject({
        retention: 'limits',
        storage: 'file',
        discard: 'old',
        max_bytes: 16 * 1024 * 1024,
      });
      expect(stream.config.max_age).toBe(3 * 24 * 3_600_000_000_000);
      expect(consumer.config).toMatchObject({
        ack_policy: 'explicit',
        deliver_policy: 'new',
        max_deliver: -1,
        max_ack_pending: 50_000,
        filter_subject: 'consumers.work.thing_done.low',
      });
      expect(consumer.config.backoff).toBeUndefined();
    });

    backlogContract(async () => openBus({}));

    test('the count of failures outlives the process that counted', async () => {
      const namespace = `spec-${randomUUID()}`;
      const reader = answering({ name: 'svc__reader', maxFailures: 2 }, () => ({ verdict: 'failed', error: 'broken' }));
      const first = openBus({ namespace, failureDelayMs: () => 400 });
      const subscription = await first.subscribe(reader);
      await first.publish([publication('thing_done', 'a')]);
      await reader.seen.until((seen) => seen.length === 1);
      await subscription.drain(AbortSignal.timeout(5_000));
      await first.close();
      const second = openBus({ namespace });
      await second.subscribe(reader);
      expect(await reader.dead.until((dead) => dead.length === 1)).toEqual(['a after 2: broken']);
      expect(reader.seen.entries).toHaveLength(2);
    });
  });
});
