import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { EVENT_STORE_MIGRATIONS, readMigrations } from './migrate.ts';
import { isUnmigrated, isUnreachable } from './postgres-fault.ts';
import { assertAtHome, readIdentity, type StoreIdentity } from './server-identity.ts';

const RETRY_MS = 250;

/** @throws when a migration of ours is missing, or a newer release made a change that this one cannot live with. */
const assertMigrated = async (pool: Pool): Promise<void> => {
  const known = (await readMigrations(EVENT_STORE_MIGRATIONS)).length;
  const { rows } = await pool.query<{ applied: number; breaking: number }>(
    `select coalesce(max(number), 0) as applied, coalesce(max(number) filter (where breaking), 0) as breaking
     from store.migration where source = $1`,
    [EVENT_STORE_MIGRATIONS.name],
  );
  const { applied, breaking } = rows[0] ?? { applied: 0, breaking: 0 };
  if (applied < known)
    throw new Error(
      `The event store is at migration ${applied}, this release needs ${known}: migrate it first (\`fixpoint store migrate\`)`,
    );
  if (breaking > known)
    throw new Error(
      `The event store is at migration ${breaking}, which this release (${known}) cannot read: update it`,
    );
};

const check = async (pool: Pool): Promise<StoreIdentity> => {
  try {
    await assertMigrated(pool);
    const identity = await readIdentity(pool);
    assertAtHome(identity);
    return identity;
  } catch (error) {
    if (!isUnmigrated(error)) throw error;
    throw new Error('The database holds no event store for this role: migrate it first (`fixpoint store migrate`)', {
      cause: error,
    });
  }
};

/**
 * Waits up to `patienceMs` for a server that is down or starting, then checks that this store is ours to use.
 * @returns what this process is to be kept on.
 * @throws the last fault, or why this store must not be used.
 */
export const assertUsable = async (pool: Pool, patienceMs: number): Promise<StoreIdentity> => {
  const start = performance.now();
  for (;;) {
    try {
      return await check(pool);
    } catch (error) {
      if (!isUnreachable(error) || performance.now() - start + RETRY_MS > patienceMs) throw error;
    }
    await sleep(RETRY_MS);
  }
};
