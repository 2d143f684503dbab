import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import type { Ingest, IngestMessage, IngestVerdict } from './ingest.ts';
import type { JetStreamBus } from './jetstream-bus.ts';
import { busOn, type PrivateNats, privateNats } from './private-nats.fixture.ts';

// A server that is bounced takes seconds to come back on a busy machine.
jest.setTimeout(60_000);

let nats: PrivateNats;
beforeAll(async () => {
  nats = await privateNats(process.env.PATH ?? '');
}, 200_000);
afterAll(() => nats.remove());

let namespace = '';
let buses: JetStreamBus[] = [];
beforeEach(async () => {
  namespace = `spec-${randomUUID()}`;
  buses = [busOn(nats, { namespace }), busOn(nats, { namespace })];
  await Promise.all(buses.map((bus) => bus.ready(20_000)));
});
afterEach(async () => {
  await Promise.all(buses.map((bus) => bus.close()));
});

/** A producer that knows nothing of us but the subject. */
const send = (...bodies: readonly string[]): Promise<void> =>
  nats.withConnection(async (connection) => {
    const to = headers();
    to.set('Ce-Id', '1');
    for (const body of bodies) {
      await jetstream(connection).publish(`${namespace}.ingest.shop`, body, { headers: to });
    }
  });

const got: IngestMessage[] = [];
beforeEach(() => void got.splice(0));

/** Rounds until so many messages were handed over. */
const takeUntil = async (
  count: number,
  ingest: Ingest,
  verdict: (message: IngestMessage) => IngestVerdict = () => 'done',
) => {
  const stop = new AbortController();
  const seen = got.length;
  while (got.length < seen + count) {
    await ingest.take(async (message) => {
      got.push(message);
      if (got.length >= seen + count) stop.abort();
      return verdict(message);
    }, stop.signal);
  }
};

/** A round that finds nothing. */
const nothingLeft = async (ingest: Ingest): Promise<void> => {
  const seen = got.length;
  await ingest.take(async (message) => {
    got.push(message);
    return 'done';
  }, AbortSignal.timeout(1_000));
  expect(got).toHaveLength(seen);
};

/** The stream is there from the first round on. */
const opened = async (bus: JetStreamBus | undefined): Promise<Ingest> => {
  if (bus === undefined) throw new Error('no bus');
  const ingest = bus.ingest();
  await ingest.take(async () => 'done', AbortSignal.timeout(100));
  return ingest;
};

describe('the ingest on JetStream', () => {
  test('hands over what a producer sent, with its headers, once', async () => {
    const ingest = await opened(buses[0]);
    await send('{"a":1}');
    await takeUntil(1, ingest);
    expect(got[0]).toMatchObject({ project: 'shop', headers: { 'ce-id': '1' }, body: '{"a":1}', sequence: 1 });
    expect(Math.abs(Date.parse(got[0]?.sentAt ?? '') - Date.now())).toBeLessThan(60_000);
    await nothingLeft(ingest);
  });

  test('keeps what came while nobody was there', async () => {
    await opened(buses[0]);
    await buses[0]?.close();
    await send('1', '2', '3');
    const other = buses[1]?.ingest();
    if (other === undefined) throw new Error('no bus');
    await takeUntil(3, other);
    expect(got.map(({ body }) => body)).toEqual(['1', '2', '3']);
  });

  test('hands over again what is to come later, and what handling it threw for', async () => {
    const ingest = await opened(buses[0]);
    await send('1');
    await takeUntil(1, ingest, () => 'later');
    await takeUntil(1, ingest, () => {
      throw new Error('the store is away');
    });
    await takeUntil(1, ingest);
    expect(got.map(({ sequence }) => sequence)).toEqual([1, 1, 1]);
    await nothingLeft(ingest);
  });

  test('gives each message to one of those who take', async () => {
    const [one, other] = [await opened(buses[0]), await opened(buses[1])];
    await send(...Array.from({ length: 20 }, (_, index) => String(index)));
    await takeUntil(20, {
      take: (handle, signal) =>
        Promise.all([one, other].map((each) => each.take(handle, signal))).then(() => undefined),
    });
    expect(new Set(got.map(({ sequence }) => sequence)).size).toBe(20);
    expect(got).toHaveLength(20);
  });

  test('goes on after the broker was away, and after it has lost all it had', async () => {
    const ingest = await opened(buses[0]);
    await nats.bounce();
    await buses[0]?.ready(20_000);
    await send('1');
    await takeUntil(1, ingest);
    await nats.bounce(nats.wipe);
    await buses[0]?.ready(20_000);
    await ingest.take(async () => 'done', AbortSignal.timeout(100)).catch(() => undefined);
    await opened(buses[0]);
    await send('2');
    await takeUntil(1, ingest);
    expect(got.map(({ body }) => body)).toEqual(['1', '2']);
  });
});
