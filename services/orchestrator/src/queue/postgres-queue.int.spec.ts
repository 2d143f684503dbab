import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { type StorePoolOptions, storePool } from '@fixpoint/event-store/store-pool';
import { testDatabase } from '@fixpoint/testing/test-database';
import { afterEach } from '@jest/globals';
import { Kysely, PostgresDialect } from 'kysely';
import { ORCHESTRATOR_MIGRATIONS } from '../migrations.ts';
import { postgresWaits, type WaitTables } from '../waits/postgres-waits.ts';
import { postgresQueue } from './postgres-queue.ts';
import { queueContract } from './queue.contract.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

queueContract('the queue in Postgres', async () => {
  const database = await testDatabase({ migrations: [ORCHESTRATOR_MIGRATIONS] });
  const options: StorePoolOptions = {
    ...{ url: database.url, role: 'fixpoint_orchestrator', applicationName: 'fixpoint spec' },
  };
  const store = new PostgresEventStore({ ...options, role: 'fixpoint_embedded' });
  const db = new Kysely<WaitTables>({ dialect: new PostgresDialect({ pool: storePool(options, 4) }) });
  closing.push(
    () => database.close(),
    () => store.close(),
    () => db.destroy(),
  );
  const waits = postgresWaits({ db, store, owner: 'one', pollMs: 10 });
  const clock = { now: () => new Date() };
  return { store, clock, waits, queues: [postgresQueue(db), postgresQueue(db)] };
});
