import { eventOwners } from '@fixpoint/contracts/events/catalogue';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { storePool } from '@fixpoint/event-store/store-pool';
import { testDatabase } from '@fixpoint/testing/test-database';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import { AUDITOR_MIGRATIONS } from '../migrations.ts';
import type { AuditDb } from './row-table.ts';

export interface AuditDatabase {
  readonly url: string;
  readonly store: PostgresEventStore;
  /** As the auditor sees it. */
  readonly db: AuditDb;
  readonly pool: Pool;
  close(): Promise<void>;
}

/** A fresh database with the log and the audit schema, empty. @param connections of the auditor. */
export const auditDatabase = async (connections = 3): Promise<AuditDatabase> => {
  const eventTypes = [...eventOwners(), { type: 'from_the_future', owner: 'orchestrator' }];
  const database = await testDatabase({ migrations: [AUDITOR_MIGRATIONS], eventTypes });
  const options = { url: database.url, applicationName: 'auditor spec' };
  const store = new PostgresEventStore({ ...options, role: 'fixpoint_embedded' });
  const pool = storePool({ ...options, role: 'fixpoint_auditor' }, connections);
  const db: AuditDb = new Kysely({ dialect: new PostgresDialect({ pool }) });
  const close = async (): Promise<void> => {
    await db.destroy();
    await store.close();
    await database.close();
  };
  return { url: database.url, store, db, pool, close };
};
