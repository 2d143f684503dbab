import { allVisible } from '@fixpoint/testing/all-visible';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Generated, type Kysely, sql } from 'kysely';
import { Client } from 'pg';
import { PostgresEventStore } from './postgres-event-store.ts';
import { checkpointOf, type Projection, ProjectionRunner, type ProjectionRunnerOptions } from './projection.ts';
import { roleDatabase } from './role-database.ts';
import { appendOf } from './store-events.fixture.ts';
import type { StorePoolOptions } from './store-pool.ts';

// A busy disk can hold a commit up for seconds.
jest.setTimeout(30_000);

interface Tables {
  seen: { stream: string; version: number; place: Generated<number> };
}

describe('a projection', () => {
  let database: TestDatabase;
  let store: PostgresEventStore;
  let admin: Client;
  let db: Kysely<Tables>;
  let streams = 0;
  let count = 0;
  let projection: Projection<Tables>;

  beforeAll(async () => {
    database = await testDatabase();
    const options: StorePoolOptions = {
      url: database.url,
      role: 'fixpoint_embedded',
      applicationName: 'fixpoint spec',
    };
    store = new PostgresEventStore(options);
    db = roleDatabase(options, 4);
    admin = new Client({ connectionString: database.url });
    await admin.connect();
    await admin.query(`
      create schema spec;
      create table spec.seen (stream text, version int, place int generated always as identity);
      grant usage on schema spec to fixpoint_embedded;
      grant select, insert on spec.seen to fixpoint_embedded;`);
  });
  afterAll(async () => {
    await Promise.all([db.destroy(), admin.end(), store.close()]);
    await database.close();
  });

  /** What projections of this test saw, in the order in which they wrote it; earlier tests' events left out. */
  const seen = async (): Promise<string[]> => {
    const rows = await db
      .withSchema('spec')
      .selectFrom('seen')
      .select(['stream', 'version'])
      .orderBy('place')
      .execute();
    return rows.map(({ stream, version }) => `${stream}/${version}`);
  };
  const decided = async (events: number): Promise<string[]> => {
    streams += 1;
    const stream = `s-${streams}`;
    await store.append(appendOf(stream, 0, ...Array.from({ length: events }, (_, index) => String(index))));
    await allVisible(store);
    return Array.from({ length: events }, (_, index) => `${stream}/${index + 1}`);
  };
  const runner = (owner: string, change: Partial<ProjectionRunnerOptions<Tables>> = {}) =>
    new ProjectionRunner<Tables>({ db, store, projection, owner, ...change });
  const fence = async (): Promise<string | undefined> =>
    (await sql<{ fence: string }>`select fence from store.checkpoint where name = ${projection.name}`.execute(db))
      .rows[0]?.fence;

  beforeEach(async () => {
    count += 1;
    projection = {
      name: `spec__seen_${count}`,
      schema: 'spec',
      tables: [{ name: 'seen', key: ['place'] }],
      apply: async ({ transaction }, events) => {
        const rows = events.map(({ stream, version }) => ({ stream, version }));
        await transaction.insertInto('seen').values(rows).execute();
      },
    };
    await allVisible(store);
    const skip = runner('skip', { projection: { ...projection, apply: () => Promise.resolve() } });
    await skip.catchUp();
    await skip.release();
  });
  afterEach(() => admin.query('truncate spec.seen'));

  test('sees each event once, in order, and goes on where it was', async () => {
    const first = await decided(5);
    const one = runner('one', { pageSize: 2 });
    await one.catchUp();
    expect(await seen()).toEqual(first);
    await one.release();
    const second = await decided(3);
    await runner('two').catchUp();
    expect(await seen()).toEqual([...first, ...second]);
  });

  test('says how far it is', async () => {
    await decided(1);
    const cursor = await runner('one').catchUp();
    expect(await checkpointOf(db, projection.name)).toEqual(cursor);
    expect(cursor).toEqual((await store.watermark()).visible);
    expect(await checkpointOf(db, 'spec__unknown')).toEqual({ epoch: 0, xid: '0', position: '0' });
  });

  test('is woken by an append', async () => {
    const one = runner('one', { pollMs: 60_000 });
    await one.catchUp();
    const woken = one.step(new AbortController().signal);
    const events = await decided(1);
    await woken;
    await one.catchUp();
    expect(await seen()).toEqual(events);
  });

  test('P28 writes its tables and its checkpoint together or not at all', async () => {
    const events = await decided(1);
    const broken = runner('one', {
      projection: {
        ...projection,
        apply: async (target, page) => {
          await projection.apply(target, page);
          throw new Error('out of ideas');
        },
      },
    });
    await expect(broken.catchUp()).rejects.toThrow(
      /^projection spec__seen_\d+ stopped at event [0-9a-f-]{36} \(task_submitted\)$/,
    );
    expect(await seen()).toEqual([]);
    await runner('one').catchUp();
    expect(await seen()).toEqual(events);
  });

  test('P27 stops at the event that fails, with all before it written and none behind it, and skips nothing when it goes on', async () => {
    const [first, second, , fourth] = await decided(4);
    const choosy = runner('one', {
      projection: {
        ...projection,
        apply: async (target, page) => {
          if (page.some(({ version }) => version === 3)) throw new Error('no threes');
          await projection.apply(target, page);
        },
      },
    });
    await expect(choosy.catchUp()).rejects.toThrow('stopped at event');
    await expect(choosy.catchUp()).rejects.toThrow('stopped at event');
    expect(await seen()).toEqual([first, second]);
    await runner('one').catchUp();
    expect((await seen()).at(-1)).toBe(fourth);
  });

  describe('run by two processes', () => {
    test('works in one of them; the other takes over when it is let go', async () => {
      const [one, two] = [runner('one'), runner('two')];
      await one.catchUp();
      const events = await decided(2);
      expect(await two.catchUp()).toBeNull();
      await one.catchUp();
      await one.release();
      expect(await two.catchUp()).toEqual((await store.watermark()).visible);
      expect(await seen()).toEqual(events);
    });

    test('P26 is taken over from one that went silent, which then cannot write', async () => {
      const silent = runner('one', { leaseMs: 1 });
      await silent.catchUp();
      const before = await fence();
      const events = await decided(2);
      const two = runner('two');
      await two.catchUp();
      expect(await fence()).not.toBe(before);
      expect(await silent.catchUp()).toBeNull();
      expect(await seen()).toEqual(events);
    });

    test('is not taken from one that is idle', async () => {
      const one = runner('one', { leaseMs: 300 });
      for (const until = Date.now() + 700; Date.now() < until; ) {
        await one.step(AbortSignal.timeout(20));
        expect(await runner('two', { leaseMs: 300 }).catchUp()).toBeNull();
      }
    });
  });

  test('P26 cannot be written by a process that lost its lease between reading and writing', async () => {
    await decided(1);
    let takeOver = async (): Promise<void> => {
      takeOver = () => Promise.resolve();
      await runner('two').catchUp();
    };
    const late = runner('one', {
      leaseMs: 1,
      store: {
        changed: (timeoutMs, signal) => store.changed(timeoutMs, signal),
        readAll: async (after, limit) => {
          const page = await store.readAll(after, limit);
          await new Promise((resolve) => setTimeout(resolve, 5));
          await takeOver();
          return page;
        },
      },
    });
    await late.catchUp();
    expect(await seen()).toHaveLength(1);
  });
});
