import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type FedMessage, feedContract } from './feed.contract.ts';
import type { JetStreamBus } from './jetstream-bus.ts';
import { anEvent } from './messaging.fixture.ts';
import { busOn, type PrivateNats, privateNats } from './private-nats.fixture.ts';

// A server that is bounced takes seconds to come back on a busy machine.
jest.setTimeout(60_000);

let nats: PrivateNats;
beforeAll(async () => {
  nats = await privateNats(process.env.PATH ?? '');
}, 200_000);
afterAll(() => nats.remove());

const openBus = (namespace: string): JetStreamBus => busOn(nats, { namespace });

/** As a subscriber does that knows nothing of us: a consumer of its own, from the first message on. */
const readAll = (namespace: string): Promise<readonly FedMessage[]> =>
  nats.withConnection(async (connection) => {
    const stream = `FEED_${namespace}`;
    const { state } = await (await jetstreamManager(connection)).streams.info(stream);
    const consumer = await jetstream(connection).consumers.get(stream);
    const messages: FedMessage[] = [];
    while (messages.length < state.messages) {
      for await (const message of await consumer.fetch({ max_messages: state.messages })) {
        const headers = Object.fromEntries([...(message.headers ?? [])].map(([name, [value = '']]) => [name, value]));
        messages.push({ subject: message.subject, headers, body: message.string() });
      }
    }
    return messages;
  });

describe('the feed on JetStream', () => {
  feedContract(async () => {
    const namespace = `spec-${randomUUID()}`;
    const buses = [openBus(namespace), openBus(namespace)] as const;
    const areReady = async (): Promise<void> => {
      await Promise.all(buses.map((bus) => bus.ready(20_000)));
    };
    const away = async (work: () => Promise<void>): Promise<void> => {
      await nats.bounce(work);
      await areReady();
    };
    await areReady();
    return {
      feed: buses[0].feed(),
      other: buses[1].feed(),
      messages: () => readAll(namespace),
      backUp: () => away(nats.backUp),
      restore: () => away(nats.restore),
      wipe: () => away(nats.wipe),
      close: async () => {
        await Promise.all(buses.map((bus) => bus.close()));
      },
    };
  });

  test('can be subscribed to by type, and each message has its event as its id', async () => {
    const namespace = `spec-${randomUUID()}`;
    const bus = openBus(namespace);
    await bus.ready(20_000);
    const feed = bus.feed();
    await feed.open();
    await feed.append(
      [anEvent('thing_done', 'a'), anEvent('thing_begun', 'b'), anEvent('thing_done', 'c')],
      'together',
    );
    const ids = await nats.withConnection(async (connection) => {
      const stream = `FEED_${namespace}`;
      await (await jetstreamManager(connection)).consumers.add(stream, {
        durable_name: 'somebody',
        filter_subject: `${namespace}.events.thing_done`,
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.All,
      });
      const consumer = await jetstream(connection).consumers.get(stream, 'somebody');
      const first = await consumer.next({ expires: 10_000 });
      first?.ack();
      const second = await consumer.next({ expires: 10_000 });
      return [first, second].map((message) => message?.headers?.get('Nats-Msg-Id'));
    });
    expect(ids).toEqual(['a', 'c']);
    await bus.close();
  });

  test('N6: is no source or mirror of another stream, and its stream keeps the oldest three days', async () => {
    const namespace = `spec-${randomUUID()}`;
    const bus = openBus(namespace);
    await bus.ready(20_000);
    await bus.feed().open();
    const { config } = await nats.withConnection(async (connection) =>
      (await jetstreamManager(connection)).streams.info(`FEED_${namespace}`),
    );
    expect(config).toMatchObject({
      subjects: [`${namespace}.events.>`],
      retention: 'limits',
      storage: 'file',
      discard: 'old',
      max_bytes: 8 * 1024 * 1024,
      max_age: 3 * 24 * 3_600_000_000_000,
    });
    expect([config.mirror, config.sources]).toEqual([undefined, undefined]);
    await bus.close();
  });
});
