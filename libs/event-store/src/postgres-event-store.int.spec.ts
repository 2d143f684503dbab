import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Client } from 'pg';
import { appendStatement } from './append-statement.ts';
import { eventStoreContract } from './event-store.contract.ts';
import { PostgresEventStore } from './postgres-event-store.ts';
import { appendOf } from './store-events.fixture.ts';
import { storedAppend } from './stored-event.ts';

// A busy disk can hold a commit up for seconds.
jest.setTimeout(30_000);

const open = (database: TestDatabase): PostgresEventStore =>
  new PostgresEventStore({ url: database.url, role: 'fixpoint_embedded', applicationName: 'fixpoint spec' });

eventStoreContract('Postgres', async () => {
  const database = await testDatabase();
  const [store, other] = [open(database), open(database)];
  return {
    store,
    other,
    close: async () => {
      await Promise.all([store.close(), other.close()]);
      await database.close();
    },
  };
});

describe('Postgres under concurrent writers', () => {
  let database: TestDatabase;
  let stores: PostgresEventStore[];
  let client: Client;

  beforeAll(async () => {
    database = await testDatabase();
    stores = Array.from({ length: 4 }, () => open(database));
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await client.end();
    await database.close();
  });

  test('no batch ever deadlocks with another, whatever the order of its streams', async () => {
    const streams = Array.from({ length: 40 }, (_, index) => `lock-${index}`);
    for (let version = 0; version < 40; version += 1) {
      await Promise.all(
        stores.map((store, writer) => {
          const order = streams.toSorted((a, b) => (a < b === (writer % 2 === 0) ? -1 : 1));
          return store.appendAll(order.map((stream) => appendOf(stream, version, `${version}.${writer}`)));
        }),
      );
    }
    // Sessions report what they counted when they end.
    await Promise.all(stores.map((store) => store.close()));
    stores = Array.from({ length: 4 }, () => open(database));
    const sessions = `select from pg_stat_activity where datname = current_database() and application_name = 'fixpoint spec'`;
    while ((await client.query(sessions)).rowCount !== 0);
    const { rows } = await client.query('select deadlocks from pg_stat_database where datname = current_database()');
    expect(rows).toEqual([{ deadlocks: '0' }]);
  });

  test('several writers of one stream: cursor order is version order', async () => {
    await Promise.all(
      stores.map(async (store, writer) => {
        for (let version = 0; version < 100; ) {
          const [hot, own] = await store.appendAll([
            appendOf('hot', version, `${version}.${writer}`),
            appendOf(`own-${writer}-${version}`, 0, `${version}`),
          ]);
          expect(own?.outcome ?? 'none').toMatch(/appended|conflict/);
          version = hot?.outcome === 'appended' ? version + 1 : (await store.readStream('hot')).length;
        }
      }),
    );
    const { rows } = await client.query(
      `select count(*) as out_of_order from (
         select version, row_number() over (order by epoch, xid, position) as place from store.event where stream = 'hot') e
       where version <> place`,
    );
    expect(rows).toEqual([{ out_of_order: '0' }]);
  });

  test('a transaction that owned an xid before it read appends nothing', async () => {
    const stored = storedAppend(appendOf('late', 0, 'a'));
    if ('outcome' in stored) throw new Error(stored.detail);
    const { text, values } = appendStatement([stored]);
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    expect((await client.query(text, values)).rowCount).toBe(0);
    await client.query('rollback');
    expect((await client.query(text, values)).rowCount).toBe(1);
  });
});
