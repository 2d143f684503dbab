import { randomUUID } from 'node:crypto';
import type { NewEvent } from '@fixpoint/contracts/envelope';
import type { Feed } from '@fixpoint/messaging/feed';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { allVisible } from '@fixpoint/testing/all-visible';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestNats, testNats } from '@fixpoint/testing/test-nats';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type AuditDatabase, auditDatabase } from '../projections/audit-database.fixture.ts';
import { feedCheckpoint } from './feed-checkpoint.ts';
import { FeedLeader } from './feed-leader.ts';

let audit: AuditDatabase;
let nats: TestNats;
let replicas: { readonly end: () => Promise<void>; readonly kill: () => Promise<void> }[];

beforeEach(async () => {
  audit = await auditDatabase();
  nats = testNats();
  replicas = [];
});
afterEach(async () => {
  await Promise.all(replicas.map(({ kill }) => kill()));
  await nats.close();
  await audit.close();
});

const LEASE_MS = 1_000;

/** An auditor's feed in a process of its own: `end` gives the lease back, `kill` does not. */
const replica = async (owner: string, wrap: (feed: Feed) => Feed = (feed) => feed) => {
  const stop = new AbortController();
  const { store, db } = audit;
  const leader = new FeedLeader({
    store,
    changed: (timeoutMs, signal) => store.changed(timeoutMs, signal),
    feed: wrap((await nats.bus()).feed()),
    checkpoint: feedCheckpoint(db, { name: 'auditor__feed', owner, leaseMs: LEASE_MS }),
    clock: systemClock,
    pageSize: 7,
    pollMs: 20,
  });
  const ended = (async () => {
    while (!stop.signal.aborted) {
      await leader.step(stop.signal).catch(async (error: unknown) => {
        if (error instanceof Error && error.message === 'killed') stop.abort();
        await systemClock.sleep(20, stop.signal);
      });
    }
  })();
  const kill = (): Promise<void> => {
    stop.abort();
    return ended;
  };
  const end = async (): Promise<void> => {
    await kill();
    await leader.release();
  };
  const made = { end, kill, ended };
  replicas.push(made);
  return made;
};

const happen = async (count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => randomUUID());
  await Promise.all(
    ids.map(async (id) => {
      const metadata = { causation_id: id, correlation_id: id, producer: 'spec', actor: 'system' };
      const occurred_at = new Date().toISOString();
      const event: NewEvent = { id, type: 'from_the_future', schema_version: 1, data: { id }, metadata, occurred_at };
      const outcome = await audit.store.append({ stream: `s-${id}`, root: id, expectedVersion: 0, events: [event] });
      if (outcome.outcome !== 'appended') throw new Error(JSON.stringify(outcome));
    }),
  );
  return ids;
};

const stored = async (): Promise<string[]> => {
  const page = await audit.store.readAll({ epoch: 0, xid: '0', position: '0' }, 10_000);
  return page.events.map(({ id }) => id);
};

const STREAM = () => `FEED_${nats.namespace}`;

const withNats = async <T>(use: (connection: Awaited<ReturnType<typeof connect>>) => Promise<T>): Promise<T> => {
  const connection = await connect({ servers: nats.url });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
};

/** Ids of the messages that a subscriber finds, the oldest first. */
const fed = (): Promise<string[]> =>
  withNats(async (connection) => {
    const { state } = await (await jetstreamManager(connection)).streams.info(STREAM());
    const consumer = await jetstream(connection).consumers.get(STREAM());
    const ids: string[] = [];
    while (ids.length < state.messages) {
      for await (const message of await consumer.fetch({ max_messages: state.messages }))
        ids.push(message.headers?.get('ce-id') ?? '');
    }
    return ids;
  });

/** Everything that is stored is fed, in the order of the store. */
const isComplete = async (count: number): Promise<boolean> => {
  const all = await stored();
  const seen = await fed().catch(() => []);
  return all.length === count && JSON.stringify(seen) === JSON.stringify(all);
};

const untilComplete = (count: number): Promise<boolean> =>
  eventually(`${count} events are fed`, async () => (await isComplete(count)) || null);

describe('the feed of a store', () => {
  test('is complete and in order while many append, and another replica goes on when its writer stops', async () => {
    const [a] = [await replica('a'), await replica('b')];
    await happen(40);
    await untilComplete(40);
    const more = happen(40);
    await a.end();
    await more;
    await untilComplete(80);
  });

  test('goes on, and repeats nothing, when its writer is killed before it could say how far it is', async () => {
    await happen(10);
    // Its first page is then full.
    await allVisible(audit.store);
    const a = await replica('a', (feed) => ({
      open: () => feed.open(),
      isOpen: () => feed.isOpen(),
      append: async (...page) => {
        await feed.append(...page);
        throw new Error('killed');
      },
    }));
    await a.ended;
    expect((await fed()).length).toBe(7);
    await replica('b');
    await untilComplete(10);
  });

  test('N2: is written again when the broker has lost it, without an event that would wake anybody', async () => {
    await happen(20);
    await replica('a');
    await untilComplete(20);
    await withNats(async (connection) => (await jetstreamManager(connection)).streams.delete(STREAM()));
    await happen(1);
    await untilComplete(21);
  });

  test('begins with what its stream would still have, when it is new to an old store', async () => {
    await happen(5);
    await allVisible(audit.store);
    const { cursor } = (await audit.store.readAll({ epoch: 0, xid: '0', position: '0' }, 1)).events[0] ?? {};
    const checkpoint = feedCheckpoint(audit.db, { name: 'auditor__feed', owner: 'a', leaseMs: LEASE_MS });
    expect(await checkpoint.beginning()).toEqual({ ...cursor, position: String(Number(cursor?.position) - 1) });
  });

  test('N9, A17: a claim that another process has taken over moves nothing', async () => {
    const claims = ['a', 'b'].map((owner) => feedCheckpoint(audit.db, { name: 'auditor__feed', owner, leaseMs: 1 }));
    const [first, second] = claims;
    const held = await first?.claim();
    await eventually('the lease is over', async () => (await second?.claim()) ?? null);
    expect(await first?.move(held?.fence ?? '', { epoch: 9, xid: '9', position: '9' })).toBe(false);
  });
});
