import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { type StorePoolOptions, storePool } from '@fixpoint/event-store/store-pool';
import { allVisible } from '@fixpoint/testing/all-visible';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { ORCHESTRATOR_MIGRATIONS } from '../migrations.ts';
import { postgresWaits, type WaitTables } from './postgres-waits.ts';
import { waitsContract } from './waits.contract.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const open = async () => {
  const database: TestDatabase = await testDatabase({ migrations: [ORCHESTRATOR_MIGRATIONS] });
  const options: StorePoolOptions = {
    url: database.url,
    role: 'fixpoint_orchestrator',
    applicationName: 'fixpoint spec',
  };
  // Other services' events too, which the orchestrator itself may not append.
  const store = new PostgresEventStore({ ...options, role: 'fixpoint_embedded' });
  const db = new Kysely<WaitTables>({ dialect: new PostgresDialect({ pool: storePool(options, 4) }) });
  closing.push(
    () => database.close(),
    () => store.close(),
    () => db.destroy(),
  );
  const one = postgresWaits({ db, store, owner: 'one', pollMs: 10 });
  const other = postgresWaits({ db, store, owner: 'other', pollMs: 10 });
  return { db, store, clock: { now: () => new Date() }, waits: [one, other] as const };
};

waitsContract('waits in Postgres', open);

describe('the rows of waits in Postgres', () => {
  test('are the same when they are built again from the start', async () => {
    const { db, store, waits } = await open();
    const stream = 'lineage-r';
    const metadata = { causation_id: 'c', correlation_id: 'r', producer: 'spec', actor: 'local' };
    const events = [
      ['task_submitted', { task: 'r', deadline_at: '2030-01-01T00:00:00.000Z' }],
      ['node_ready', { task: 'r', run: 1 }],
      ['subtask_spawned', { parent_ref: 'r' }],
      ['node_ready', { task: 'r.f1', run: 1 }],
      ['fault_recorded', { task: 'r.f1', run: 1, phase: 'gate', next_at: '2029-01-01T00:00:00.000Z' }],
    ] as const;
    for (const [index, [type, data]] of events.entries()) {
      const event = { id: `00000000-0000-8000-8000-00000000000${index}`, type, schema_version: 1, data, metadata };
      const occurred_at = `2026-01-01T00:00:0${index}.000Z`;
      await store.append({ stream, root: 'r', expectedVersion: index, events: [{ ...event, occurred_at }] });
      await allVisible(store);
      await waits[0].keep(new AbortController().signal);
    }
    const rows = async () => ({
      waiting: await db.withSchema('orchestrator').selectFrom('waiting').selectAll().orderBy('task').execute(),
      timers: await db.withSchema('orchestrator').selectFrom('timer').selectAll().orderBy('id').execute(),
    });
    const live = await rows();
    expect(live.waiting.map(({ kind }) => kind)).toEqual(['fix', 'timer']);
    expect(live.timers).toHaveLength(2);

    await waits[0].keep(AbortSignal.abort());
    await sql`delete from orchestrator.waiting`.execute(db);
    await sql`delete from orchestrator.timer`.execute(db);
    await sql`update store.checkpoint set epoch = 0, xid = '0', position = 0 where name = 'orchestrator__waits'`.execute(
      db,
    );
    const again = postgresWaits({ db, store, owner: 'again', pollMs: 10 });
    await again.keep(new AbortController().signal);
    expect(await rows()).toEqual(live);
  });
});
