import { sql } from 'kysely';
import { READ_MODEL } from '../reading/freshness.ts';
import type { AuditDb } from './row-table.ts';

/**
 * Empties the read model and sends its checkpoint back to the start, in one transaction: whoever keeps it up to date
 * loses the fence and builds it anew. Until it has caught up, readers that name a write wait.
 */
export const rebuildReadModel = async (db: AuditDb): Promise<void> => {
  await db.transaction().execute(async (transaction) => {
    // First the checkpoint: its lock keeps a page that is being written out of the tables that are emptied.
    await sql`update store.checkpoint
      set epoch = 0, xid = '0', position = 0, fence = fence + 1, lease_until = '-infinity'
      where name = ${READ_MODEL}`.execute(transaction);
    await emptyReadModel(transaction);
  });
};

/** Empties everything that the log can say again. The built-in protocol has no event and stays. */
export const emptyReadModel = async (db: AuditDb): Promise<void> => {
  for (const table of ['lineage', 'task', 'run', 'dead_letter', 'provider', 'event'])
    await sql`delete from ${sql.table(`audit.${table}`)}`.execute(db);
  await sql`delete from audit.protocol_mode where project <> ''`.execute(db);
};
