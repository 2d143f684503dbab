import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Client } from 'pg';
import { EVENT_STORE_MIGRATIONS, type MigrationSource, migrate, readMigrations } from './migrate.ts';
import { PostgresEventStore } from './postgres-event-store.ts';

// A busy disk can hold a commit up for seconds.
jest.setTimeout(30_000);

const query = async (url: string, sql: string): Promise<unknown[]> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
};

describe('migrations', () => {
  let folder: string;
  let source: MigrationSource;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.close());

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fixpoint-migrations-'));
    source = { name: `spec-${randomUUID()}`, folder: pathToFileURL(`${folder}/`) };
  });
  afterEach(() => rm(folder, { recursive: true }));
  const file = (name: string, sql: string): Promise<void> => writeFile(join(folder, name), sql);
  const run = (sources: readonly MigrationSource[] = [source]) =>
    migrate({ url: database.url, sources, eventTypes: [] });

  test('run once, by twenty jobs at the same time, on an empty database', async () => {
    const empty = `fixpoint_empty_${randomUUID().replaceAll('-', '')}`;
    await query(database.url, `create database ${empty}`);
    const url = Object.assign(new URL(database.url), { pathname: `/${empty}` }).href;
    const ran = await Promise.all(
      Array.from({ length: 20 }, () => migrate({ url, sources: [], eventTypes: [{ type: 'a', owner: 'executor' }] })),
    );
    const known = (await readMigrations(EVENT_STORE_MIGRATIONS)).map(({ name }) => `event-store/${name}`);
    expect(ran.filter((names) => names.length > 0)).toEqual([known]);
    expect(await query(url, 'select type, owner from store.event_type')).toEqual([{ type: 'a', owner: 'executor' }]);
    await query(database.url, `drop database ${empty}`);
  });

  test('run for a user that is no superuser but a member of the owner role', async () => {
    const user = `spec_${randomUUID().replaceAll('-', '')}`;
    await query(database.url, `create role ${user} login createrole password 'secret'`);
    await query(database.url, `grant fixpoint_owner to ${user}`);
    await query(database.url, `create database ${user} owner ${user}`);
    const url = Object.assign(new URL(database.url), { pathname: `/${user}`, username: user, password: 'secret' }).href;
    expect(await migrate({ url, sources: [], eventTypes: [] })).toContain('event-store/0001_create_event_log');
    expect(await migrate({ url, sources: [], eventTypes: [] })).toEqual([]);
    await query(database.url, `drop database ${user}`);
    await query(database.url, `drop role ${user}`);
  });

  test('run in the order of their numbers, each once', async () => {
    await file('0001_make_it.sql', 'create schema it; create table it.a (n int)');
    await file('0002_fill_it.sql', 'insert into it.a values (1)');
    expect(await run()).toEqual([`${source.name}/0001_make_it`, `${source.name}/0002_fill_it`]);
    await file('0003_fill_it_again.sql', 'insert into it.a values (2)');
    expect(await run()).toEqual([`${source.name}/0003_fill_it_again`]);
    expect(await query(database.url, 'select n from it.a order by n')).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('leave nothing of a run that failed, and say which one it was', async () => {
    await file('0001_make_it.sql', 'create schema half');
    await file('0002_break_it.sql', 'create table half.a (n nothing)');
    await expect(run()).rejects.toThrow(`migration ${source.name}/0002_break_it failed: type "nothing" does not exist`);
    expect(await query(database.url, `select from pg_namespace where nspname = 'half'`)).toEqual([]);
  });

  test('are refused when one was edited after it ran', async () => {
    await file('0001_make_it.sql', 'create schema edited');
    await run();
    await file('0001_make_it.sql', 'create schema edited_since');
    await expect(run()).rejects.toThrow(`migration ${source.name}/1 was edited after it ran`);
  });

  test.each([['1_short.sql'], ['0002_no_first.sql'], ['0001_Upper.sql']])(
    'are refused when a file is misnamed: %s',
    async (name) => {
      await file(name, '');
      await expect(run()).rejects.toThrow(`${name} should be number 1`);
    },
  );

  test('keep a release out that does not know a breaking change', async () => {
    const store = new PostgresEventStore({
      url: database.url,
      role: 'fixpoint_embedded',
      applicationName: 'fixpoint spec',
    });
    await store.assertUsable(0);
    await query(database.url, `insert into store.migration values ('event-store', 90, 'harmless', '', false)`);
    await store.assertUsable(0);
    await query(database.url, `insert into store.migration values ('event-store', 91, 'drop_it', '', true)`);
    await expect(store.assertUsable(0)).rejects.toThrow('at migration 91, which this release');
    await query(database.url, `delete from store.migration where number > 89`);
    const known = (await readMigrations(EVENT_STORE_MIGRATIONS)).length;
    await query(database.url, `delete from store.migration where source = 'event-store' and number = ${known}`);
    await expect(store.assertUsable(0)).rejects.toThrow(
      `at migration ${known - 1}, this release needs ${known}: migrate it first`,
    );
    await store.close();
  });
});

describe('a store that is not ours to use', () => {
  test('is refused when the database was restored from another server, or its server was promoted', async () => {
    const database = await testDatabase();
    const store = new PostgresEventStore({
      url: database.url,
      role: 'fixpoint_embedded',
      applicationName: 'fixpoint spec',
    });
    await store.assertUsable(0);
    await query(database.url, `update store.identity set system_identifier = '42'`);
    await expect(store.assertUsable(0)).rejects.toThrow(/written on server 42, timeline 1, and is now on server \d+/);
    await query(
      database.url,
      'update store.identity set system_identifier = (select system_identifier from pg_control_system()), timeline = 7',
    );
    await expect(store.assertUsable(0)).rejects.toThrow(
      /timeline 7, and is now on server \d+, timeline 1: it was restored or failed over/,
    );
    await store.close();
    await database.close();
  });

  test('is refused with a hint when nobody migrated it', async () => {
    const database = await testDatabase();
    const empty = `fixpoint_empty_${randomUUID().replaceAll('-', '')}`;
    await query(database.url, `create database ${empty}`);
    const url = Object.assign(new URL(database.url), { pathname: `/${empty}` });
    const store = new PostgresEventStore({
      url: url.href,
      role: 'fixpoint_embedded',
      applicationName: 'fixpoint spec',
    });
    await expect(store.assertUsable(0)).rejects.toThrow(
      `Postgres at ${url.host}/${empty}: The database holds no event store for this role: migrate it first`,
    );
    await store.close();
    await query(database.url, `drop database ${empty}`);
    await database.close();
  });
});
