import { CURSOR_START } from '@fixpoint/contracts/envelope';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { readerPositions } from '@fixpoint/event-store/reader-positions';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Client, Pool } from 'pg';
import { type Log, silentLog } from './log.ts';
import { type Loop, loop } from './loop.ts';
import { StoreWatch, storeWatch } from './store-watch.ts';
import { systemClock } from './system-clock.ts';
import { noMetrics } from './telemetry/metrics.ts';

const ALARM_MS = 300;
const READER = 'spec__reader';

let database: TestDatabase;
let elsewhere: TestDatabase;
let store: PostgresEventStore;
let pool: Pool;
let told: string[];
let appended = 0;
/** How what a test has opened is closed, the last one first. */
const open: (() => Promise<void>)[] = [];

beforeAll(async () => {
  [database, elsewhere] = await Promise.all([testDatabase(), testDatabase()]);
  store = new PostgresEventStore({ url: database.url, role: 'fixpoint_embedded', applicationName: 'fixpoint spec' });
  pool = new Pool({ connectionString: database.url, max: 2 });
});
afterAll(async () => {
  await Promise.all([store.close(), pool.end()]);
  await Promise.all([database.close(), elsewhere.close()]);
});
beforeEach(() => {
  told = [];
});
afterEach(async () => {
  for (const end of open.splice(0).toReversed()) await end();
});

const log: Log = {
  ...silentLog,
  debug: () => undefined,
  warn: () => undefined,
  fatal: () => undefined,
  info: (_fields, message) => told.push(message),
  error: (_fields, message) => told.push(message),
};

const watched = (watchedStore: Pick<EventStore, 'watermark'> = store) => {
  const positions = () => readerPositions(pool, [READER]);
  const watch = new StoreWatch('spec', {
    ...{ store: watchedStore, positions, clock: systemClock, log, metrics: noMetrics, alarmMs: ALARM_MS },
  });
  const background = loop('watch', (signal) => watch.step(signal), { clock: systemClock, log: silentLog });
  background.onApplicationBootstrap();
  open.push(() => ended(background));
  return { watch, background };
};

const ended = async (background: Loop): Promise<void> => {
  background.onModuleDestroy();
  await background.beforeApplicationShutdown();
};

/** A session in a transaction that has written something. */
const writing = async (url: string, name: string): Promise<Client> => {
  const client = new Client({ connectionString: url, application_name: name });
  await client.connect();
  open.push(() => client.end());
  await client.query('begin');
  await client.query('create table forgotten (n int)');
  return client;
};

const appendTen = async (): Promise<void> => {
  for (let count = 0; count < 10; count += 1) {
    appended += 1;
    const stream = `spec-${appended}`;
    const id = `00000000-0000-8000-8000-${String(appended).padStart(12, '0')}`;
    const metadata = { causation_id: id, correlation_id: stream, producer: 'spec', actor: 'system' };
    const event = {
      id,
      type: 'task_submitted',
      schema_version: 1,
      data: {},
      metadata,
      occurred_at: '2026-01-02T03:04:05.006Z',
    };
    const outcome = await store.append({ stream, root: stream, expectedVersion: 0, events: [event] });
    expect(outcome.outcome).toBe('appended');
  }
};

const complaint = (watch: StoreWatch, text: string) =>
  eventually(`health says: ${text}`, async () => {
    const { healthy, detail } = await watch.health.state();
    return !healthy && detail.includes(text) ? detail : null;
  });
const recovery = (watch: StoreWatch) => eventually('health is well', async () => (await watch.health.state()).healthy);

describe('a service that reads by cursor', () => {
  test('A9: is alarmed by an open writing transaction in another database, names its session, and recovers when it ends', async () => {
    const { watch } = watched();
    await recovery(watch);
    const holder = await writing(elsewhere.url, 'a forgotten psql');
    const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
    await appendTen();
    const named = `pid ${rows[0]?.pid} (a forgotten psql, database ${new URL(elsewhere.url).pathname.slice(1)}, user postgres, idle in transaction`;
    await complaint(watch, `stored events are hidden from every reader, held by ${named}`);
    expect(told.join('\n')).toContain(named);
    await holder.query('rollback');
    await recovery(watch);
    expect(told).toContain('moves again');
  });

  test('P07: is alarmed in an idle store before anything is hidden', async () => {
    const { watch } = watched();
    const holder = await writing(database.url, 'idle holder');
    await complaint(watch, 'idle holder');
    await holder.query('rollback');
    await recovery(watch);
  });

  test('A10: is not ready while its own reader is dead, though the watermark is well', async () => {
    const { epoch, xid, position } = CURSOR_START;
    await pool.query(
      `insert into store.checkpoint (name, epoch, xid, position, owner, fence, lease_until)
       values ($1, $2, $3, $4, 'nobody', 1, '-infinity')`,
      [READER, epoch, xid, position],
    );
    const { watch } = watched();
    await appendTen();
    await complaint(watch, `${READER} does not move and is `);
    const { newest } = await store.watermark();
    await pool.query('update store.checkpoint set epoch = $1, xid = $2, position = $3 where name = $4', [
      ...[newest.epoch, newest.xid, newest.position, READER],
    ]);
    await recovery(watch);
  });

  test('A10: watches a reader that it may do without only where it has it', async () => {
    await pool.query(
      `insert into store.checkpoint (name, epoch, xid, position, owner, fence, lease_until)
       values ('spec__optional', 0, '0', 0, 'nobody', 1, '-infinity')`,
    );
    await appendTen();
    const watchWith = (present: object | null): StoreWatch => {
      const [provider] = storeWatch('spec', [], { spec__optional: Symbol('PRESENT') });
      if (typeof provider !== 'object' || !('useFactory' in provider)) throw new Error('no factory');
      return provider.useFactory(store, pool, systemClock, log, noMetrics, ALARM_MS, present);
    };
    const [without, having] = [watchWith(null), watchWith({})];
    await eventually('it is told of the one it has', async () => {
      await Promise.all([without.measure(), having.measure()]);
      return (await having.health.state()).detail.includes('spec__optional does not move');
    });
    expect((await without.health.state()).detail).not.toContain('spec__optional');
  });

  test('A10: is not ready when the measuring itself has stopped', async () => {
    const { watch, background } = watched();
    await recovery(watch);
    await ended(background);
    await appendTen();
    await complaint(watch, 'not measured for');
  });

  test('is not ready while the store can not be asked', async () => {
    const { watch } = watched({ watermark: () => Promise.reject(new Error('no connection')) });
    await complaint(watch, 'not measured for');
  });
});
