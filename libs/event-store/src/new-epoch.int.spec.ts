import { CURSOR_START, type Cursor, compareCursors } from '@fixpoint/contracts/envelope';
import { allVisible } from '@fixpoint/testing/all-visible';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { type NewEpochOptions, newEpoch } from './new-epoch.ts';
import { PostgresEventStore } from './postgres-event-store.ts';
import { ServerGuard } from './server-identity.ts';
import { appendOf } from './store-events.fixture.ts';
import { storeStatus } from './store-status.ts';

/** Transactions that the other server had seen more of than this one will see in any test. */
const AHEAD = 1_000_000_000_000;

let database: TestDatabase;
let superuser: Client;
let stores: PostgresEventStore[];

const open = (guard?: ServerGuard): PostgresEventStore => {
  const store = new PostgresEventStore({
    ...{ url: database.url, role: 'fixpoint_embedded', applicationName: 'fixpoint spec' },
    ...(guard === undefined ? {} : { guard }),
  });
  stores.push(store);
  return store;
};

beforeEach(async () => {
  database = await testDatabase();
  superuser = new Client({ connectionString: database.url });
  await superuser.connect();
  stores = [];
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await superuser.end();
  await database.close();
});

/** Closes every store, as an operator stops every process. */
const stopped = async (): Promise<void> => {
  await Promise.all(stores.map((store) => store.close()));
  stores = [];
};

const begin = (options: Partial<NewEpochOptions> = {}) =>
  newEpoch({ url: database.url, reason: 'spec', dryRun: false, onSameServer: false, patienceMs: 10_000, ...options });

const xidsFrom = (expression: string) =>
  superuser.query(`alter table store.event alter column xid set default ${expression}`);

/** What a dump of a busier server would bring: events of transactions far ahead of those of this server. */
const restoredFromElsewhere = async (streams: readonly string[]): Promise<readonly Cursor[]> => {
  await xidsFrom(`((pg_current_xact_id()::text::bigint + ${AHEAD})::text::xid8)`);
  const store = open();
  const cursors = [];
  for (const stream of streams) {
    const outcome = await store.append(appendOf(stream, 0, 'there'));
    if (outcome.outcome === 'appended') cursors.push(...outcome.events.map(({ cursor }) => cursor));
  }
  await stopped();
  await xidsFrom('pg_current_xact_id()');
  await superuser.query(`update store.identity set system_identifier = '42'`);
  return cursors;
};

const placeReader = (name: string, { epoch, xid, position }: Cursor) =>
  superuser.query(
    `insert into store.checkpoint (name, epoch, xid, position, owner, fence, lease_until)
     values ($1, $2, $3, $4, 'somebody', 7, 'infinity')`,
    [name, epoch, xid, position],
  );

const place = async (name: string) =>
  (await superuser.query('select * from store.checkpoint where name = $1', [name])).rows[0];

describe('P08: a store that was restored on another server', () => {
  test('hides what was stored and would lose what is appended: nobody may use it', async () => {
    const [old] = await restoredFromElsewhere(['a']);
    const store = open();
    await expect(store.assertUsable(0)).rejects.toThrow('`fixpoint store new-epoch`');
    const outcome = await store.append(appendOf('b', 0, 'here'));
    if (outcome.outcome !== 'appended' || old === undefined) throw new Error('nothing was appended');
    expect((await store.readAll(CURSOR_START, 10)).events.map(({ stream }) => stream)).not.toContain('a');
    expect(compareCursors(outcome.events[0]?.cursor ?? old, old)).toBeLessThan(0);
  });

  test('goes on in a new epoch: nothing before it is lost, everything after it comes behind', async () => {
    const old = await restoredFromElsewhere(['a', 'b', 'c']);
    const begun = await begin();
    expect(begun).toMatchObject({ epoch: 2, newest: old[2], before: { epoch: { number: 1 } } });
    const store = open();
    await store.assertUsable(0);
    expect(await store.append(appendOf('a', 1, 'here'))).toMatchObject({ outcome: 'appended' });
    expect(await store.append(appendOf('d', 0, 'here'))).toMatchObject({ outcome: 'appended' });
    await allVisible(store);
    const { events } = await store.readAll(CURSOR_START, 10);
    expect(events.map(({ stream, cursor }) => `${stream} ${cursor.epoch}`)).toEqual([
      'a 1',
      'b 1',
      'c 1',
      'a 2',
      'd 2',
    ]);
    const behind = await store.readAll(old[2] ?? CURSOR_START, 10);
    expect(behind.events.map(({ stream }) => stream)).toEqual(['a', 'd']);
  });

  test('readers keep their places; one that is ahead of the log is put back to it and named', async () => {
    const [first, second] = await restoredFromElsewhere(['a', 'b']);
    if (first === undefined || second === undefined) throw new Error('nothing was stored');
    const ahead = { ...second, position: String(Number(second.position) + 5) };
    await placeReader('spec__behind', first);
    await placeReader('spec__fresh', CURSOR_START);
    await placeReader('spec__ahead', ahead);
    expect((await begin()).readers).toEqual([
      { name: 'spec__ahead', from: ahead, to: second, isAhead: true },
      { name: 'spec__behind', from: first, to: first, isAhead: false },
      { name: 'spec__fresh', from: CURSOR_START, to: CURSOR_START, isAhead: false },
    ]);
    expect(await place('spec__ahead')).toMatchObject({ ...second, fence: '8', owner: '' });
    expect(await place('spec__behind')).toMatchObject({ ...first, fence: '8', owner: '' });
  });

  test('leases of every service are dropped', async () => {
    await superuser.query('create schema spec_service; create table spec_service.lease (stream text, phase text)');
    await superuser.query(
      'alter table spec_service.lease owner to fixpoint_owner; grant usage on schema spec_service to public',
    );
    await superuser.query(`insert into spec_service.lease values ('action-1-1', 'run'), ('action-1-2', 'run')`);
    await restoredFromElsewhere(['a']);
    expect((await begin()).leases).toEqual([{ table: 'spec_service.lease', dropped: 2 }]);
    expect((await superuser.query('select from spec_service.lease')).rowCount).toBe(0);
  });

  test('a dry run says the same and changes nothing', async () => {
    const [old] = await restoredFromElsewhere(['a']);
    await placeReader('spec__reader', old ?? CURSOR_START);
    const told = await begin({ dryRun: true });
    await expect(open().assertUsable(0)).rejects.toThrow('restored or failed over');
    expect(await place('spec__reader')).toMatchObject({ fence: '7', owner: 'somebody' });
    await stopped();
    expect(await begin()).toEqual(told);
  });

  test('every epoch is kept with the reason for it', async () => {
    await restoredFromElsewhere(['a']);
    await begin({ reason: 'the disk of the old one broke' });
    const { epochs, isAtHome } = await storeStatus(database.url);
    expect(epochs).toMatchObject([
      { epoch: 1, reason: 'first migration', beganBy: 'postgres' },
      { epoch: 2, reason: 'the disk of the old one broke', beganBy: 'postgres' },
    ]);
    expect(isAtHome).toBe(true);
  });
});

test('P30: transaction ids beyond 32 bits keep their order', async () => {
  const xids = [4_294_967_294, 4_294_967_295, 4_294_967_296, 4_294_967_301];
  const store = open();
  // The newest first: only their ids can put them in order.
  for (const xid of xids.toReversed()) {
    await xidsFrom(`'${xid}'::xid8`);
    expect(await store.append(appendOf(`of ${xid}`, 0, 'a'))).toMatchObject({ outcome: 'appended' });
  }
  await stopped();
  await begin({ onSameServer: true });
  const { events } = await open().readAll(CURSOR_START, 10);
  expect(events.map(({ cursor }) => cursor.xid)).toEqual(xids.map(String));
});

describe('a new epoch is refused', () => {
  test('where the store was written, unless that is asked for', async () => {
    await expect(begin()).rejects.toMatchObject({ code: 'not_needed' });
    expect(await begin({ onSameServer: true })).toMatchObject({ epoch: 2, newest: CURSOR_START });
  });

  test('while a process stays connected, but not for one that is being refused meanwhile', async () => {
    await restoredFromElsewhere(['a']);
    const store = open();
    await store.readStream('a');
    await expect(begin({ patienceMs: 300 })).rejects.toThrow(/still connected: fixpoint spec \(pid \d+\)/);
    const begun = begin({ patienceMs: 20_000 });
    await stopped();
    expect(await begun).toMatchObject({ epoch: 2 });
  });
});

describe('a process that runs while its store is replaced behind its address', () => {
  test('gets no further connection, and is told once it tries', async () => {
    const told: string[] = [];
    const guarded = open(new ServerGuard(({ message }) => told.push(message)));
    await guarded.assertUsable(0);
    await superuser.query(`update store.identity set system_identifier = '42'`);
    const drop = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'fixpoint spec'`;
    const refused = await eventually('a read is refused', async () => {
      await superuser.query(drop);
      return guarded.readStream('a').then(
        () => null,
        (error: Error) => (error.message.includes('failed over') ? error : null),
      );
    });
    expect(refused.message).toContain('is now on server');
    expect(told[0]).toContain('written on server 42');
  });

  test('is refused in another epoch of the same server, too', async () => {
    const told: string[] = [];
    const guarded = open(new ServerGuard(({ message }) => told.push(message)));
    await guarded.assertUsable(0);
    await superuser.query(
      `insert into store.epoch select 2, system_identifier, timeline, now(), 'spec', 'spec' from store.epoch`,
    );
    await superuser.query('update store.identity set epoch = 2');
    // The first connection was opened before; more at once need new ones.
    const reads = Array.from({ length: 3 }, () => guarded.readStream('a'));
    const settled = await Promise.allSettled(reads);
    expect(settled.map(({ status }) => status)).toContain('rejected');
    expect(told).toContain('The event store is in epoch 2; this process began in epoch 1');
  });
});
