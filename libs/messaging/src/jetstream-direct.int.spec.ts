import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NatsServer, startNats } from '@fixpoint/backing-services/nats';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type JetStreamBus, type JetStreamBusOptions, jetstreamBus } from './jetstream-bus.ts';
import { namesIn } from './jetstream-topology.ts';
import { answering, aReader, Journal, publication, realClock } from './messaging.fixture.ts';

jest.setTimeout(60_000);

let folder = '';
let server: NatsServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fixpoint-direct-spec-'));
  const common = { url: null, dockerHost: null, path: process.env.PATH ?? '', onProgress: () => undefined };
  const started = await startNats({ ...common, install: true, folder, temporary: true, port: null });
  if (started.kind === 'none') throw new Error(started.reason);
  server = started;
}, 200_000);

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const opened: JetStreamBus[] = [];

const openBus = async (rest: Partial<JetStreamBusOptions>): Promise<JetStreamBus> => {
  const common = { url: server.url, name: 'spec', maxBytes: 8 * 1024 * 1024, clock: realClock };
  const bus = jetstreamBus({
    ...common,
    namespace: `spec-${randomUUID()}`,
    report: () => undefined,
    spread: () => false,
    load: () => Promise.reject(new Error('nothing to load')),
    failureDelayMs: () => 50,
    ...rest,
  });
  opened.push(bus);
  await bus.ready(10_000);
  return bus;
};

afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
});

/** Messages that the stream ever took. */
const messagesIn = async (namespace: string): Promise<number> => {
  const connection = await connect({ servers: server.url });
  try {
    const { streams } = await jetstreamManager(connection);
    return (await streams.info(namesIn(namespace).stream)).state.last_seq;
  } finally {
    await connection.close();
  }
};

describe('a JetStream bus of a process that runs all readers', () => {
  const direct = (type: string): readonly string[] => (type === 'thing_done' ? ['svc__reader'] : []);

  test('delivers what is published there without a message, and watchers hear of it', async () => {
    const namespace = `spec-${randomUUID()}`;
    const bus = await openBus({ namespace, direct });
    const reader = aReader({ name: 'svc__reader' });
    const heard = new Journal<string>();
    await bus.watch(() => heard.add('published'));
    await bus.subscribe(reader);
    await bus.publish([publication('thing_done', 'a'), publication('thing_done', 'b')]);
    await reader.seen.until((seen) => seen.length === 2);
    await heard.until((all) => all.length > 0);
    expect(await messagesIn(namespace)).toBe(0);
  });

  test('offers again what failed, with its count, until it dies at the limit', async () => {
    const bus = await openBus({ direct });
    const reader = answering({ name: 'svc__reader' }, () => ({ verdict: 'failed', error: 'broken' }));
    await bus.subscribe(reader);
    await bus.publish([publication('thing_done', 'a')]);
    expect(await reader.dead.until((dead) => dead.length === 1)).toEqual(['a after 3: broken']);
    expect(reader.seen.entries).toEqual(['a', 'a', 'a']);
  });

  test('gives what it had not begun to another process when it is drained', async () => {
    const namespace = `spec-${randomUUID()}`;
    const [bus, other] = [await openBus({ namespace, direct }), await openBus({ namespace })];
    const gate = Promise.withResolvers<void>();
    const held = aReader({ name: 'svc__reader', mode: { kind: 'pool', concurrency: 1 } });
    const handle: typeof held.handle = async (offers, signal) => {
      const verdicts = await held.handle(offers, signal);
      await gate.promise;
      return verdicts;
    };
    const subscription = await bus.subscribe({ ...held, handle });
    await bus.publish([publication('thing_done', 'a'), publication('thing_done', 'b')]);
    await held.seen.until((seen) => seen.includes('a'));
    const successor = aReader({ name: 'svc__reader' });
    await other.subscribe(successor);
    const drained = subscription.drain(AbortSignal.timeout(20_000));
    await successor.seen.until((seen) => seen.includes('b'));
    gate.resolve();
    await drained;
    expect([held.seen.entries, successor.seen.entries]).toEqual([['a'], ['b']]);
  });

  test('reads what another process publishes as well', async () => {
    const namespace = `spec-${randomUUID()}`;
    const [bus, other] = [await openBus({ namespace, direct }), await openBus({ namespace })];
    const reader = aReader({ name: 'svc__reader' });
    await bus.subscribe(reader);
    await other.publish([publication('thing_done', 'a')]);
    await reader.seen.until((seen) => seen.includes('a'));
  });

  test('sends long work as a message when no slot is free', async () => {
    const namespace = `spec-${randomUUID()}`;
    const bus = await openBus({ namespace, direct, spread: () => true });
    const gate = Promise.withResolvers<void>();
    const reader = aReader({ name: 'svc__reader', mode: { kind: 'pool', concurrency: 1 } });
    const handle: typeof reader.handle = async (offers, signal) => {
      const verdicts = await reader.handle(offers, signal);
      await gate.promise;
      return verdicts;
    };
    await bus.subscribe({ ...reader, handle });
    await bus.publish([publication('thing_done', 'a')]);
    await reader.seen.until((seen) => seen.includes('a'));
    await bus.publish([publication('thing_done', 'b')]);
    expect(await messagesIn(namespace)).toBe(1);
    gate.resolve();
    await reader.seen.until((seen) => seen.includes('b'));
  });

  test('sends what is published together as messages, too, but for what finds a free slot', async () => {
    const namespace = `spec-${randomUUID()}`;
    const bus = await openBus({ namespace, direct, spread: () => true });
    const gate = Promise.withResolvers<void>();
    const reader = aReader({ name: 'svc__reader', mode: { kind: 'pool', concurrency: 2 } });
    const handle: typeof reader.handle = async (offers, signal) => {
      const verdicts = await reader.handle(offers, signal);
      await gate.promise;
      return verdicts;
    };
    await bus.subscribe({ ...reader, handle });
    const ids = ['a', 'b', 'c', 'd', 'e'];
    await bus.publish(ids.map((id) => publication('thing_done', id)));
    expect(await messagesIn(namespace)).toBe(3);
    gate.resolve();
    await reader.seen.until((seen) => ids.every((id) => seen.includes(id)));
  });
});
