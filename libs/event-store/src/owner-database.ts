import type { Kysely } from 'kysely';
import { Client } from 'pg';
import { roleDatabase } from './role-database.ts';
import { createRoles, OWNER_ROLE } from './roles.ts';
import type { StorePoolOptions } from './store-pool.ts';

/** A statement of a job may go over a whole table. */
const STATEMENT_MS = 600_000;

/**
 * A database as its owner sees it, for jobs that make or replace tables; `destroy()` it when done. A database that was
 * restored or copied has lost the rights that belong to the database itself: they are given again.
 * @param url of a user that may become the owner, as for the migration job.
 * @param connections at least 2 for a rebuild.
 */
export const ownerDatabase = async <Tables>(url: string, connections: number): Promise<Kysely<Tables>> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await createRoles(client);
  } finally {
    await client.end();
  }
  const options: StorePoolOptions = {
    ...{ url, role: OWNER_ROLE, applicationName: 'fixpoint owner' },
    statementTimeoutMs: STATEMENT_MS,
  };
  return roleDatabase<Tables>(options, connections);
};
