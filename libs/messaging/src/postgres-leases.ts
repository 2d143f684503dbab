import { escapeIdentifier, type Pool } from 'pg';
import type { LeaseKey, Leases } from './lease.ts';

/**
 * Creates the table of leases where it is missing. Safe from any number of processes at once.
 * A row per lease, few and changed often: no index but the key, and room in the page, so that renewals stay HOT.
 * @param schema the service's own schema; it must exist.
 */
export const ensureLeaseTable = async (pool: Pool, schema: string): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    // Two `create table if not exists` at once can both find it missing; then the second fails.
    await client.query("select pg_advisory_xact_lock(hashtext('fixpoint lease table'), hashtext($1))", [schema]);
    await client.query(`
      create table if not exists ${tableIn(schema)} (
        stream text not null,
        phase text not null,
        owner text not null,
        expires_at timestamptz not null,
        primary key (stream, phase)
      ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200)`);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
};

/** Leases in a table of a service's schema, by the database's clock. The table must exist: `ensureLeaseTable`. */
export const postgresLeases = (pool: Pool, schema: string): Leases => {
  const table = tableIn(schema);
  return {
    take: async ({ stream, phase, owner, ttlMs }) => {
      const { rows } = await pool.query<Row & { is_taken: boolean }>(takeSql(table), [stream, phase, owner, ttlMs]);
      const [row] = rows;
      if (row?.is_taken) return { lease: 'taken' };
      // Neither row, or an old one: somebody else took it while we looked.
      if (row === undefined || row.owner === owner) return heldNow(pool, table, { stream, phase });
      return { lease: 'held', heldBy: row.owner, expiresAt: row.expires_at };
    },
    renew: async (owner, keys, ttlMs) => {
      if (keys.length === 0) return [];
      const { rows } = await pool.query<LeaseKey>(renewSql(table), [owner, ttlMs, ...columnsOf(keys)]);
      return rows;
    },
    release: async (owner, keys) => {
      if (keys.length > 0) await pool.query(releaseSql(table), [owner, ...columnsOf(keys)]);
    },
    overdue: async (phase, limit) => {
      const { rows } = await pool.query<LeaseKey>(overdueSql(table), [phase, limit]);
      return rows;
    },
  };
};

interface Row {
  readonly owner: string;
  readonly expires_at: Date;
}

const tableIn = (schema: string): string => `${escapeIdentifier(schema)}.lease`;

const columnsOf = (keys: readonly LeaseKey[]): [string[], string[]] => [
  keys.map(({ stream }) => stream),
  keys.map(({ phase }) => phase),
];

// The row beside `taken` is as old as the statement's snapshot and may still name the asker, who has just lost it: only
// `taken` says who has the lease. `clock_timestamp()`, because `now()` is when the transaction began, which may be long ago behind a lock.
const takeSql = (table: string): string => `
  with taken as (
    insert into ${table} as held (stream, phase, owner, expires_at)
    values ($1, $2, $3, clock_timestamp() + $4 * interval '1 ms')
    on conflict (stream, phase) do update set owner = excluded.owner, expires_at = excluded.expires_at
      where held.owner = excluded.owner or held.expires_at <= clock_timestamp()
    returning owner, expires_at
  )
  select owner, expires_at, true as is_taken from taken
  union all
  select owner, expires_at, false from ${table} where stream = $1 and phase = $2 and not exists (select from taken)`;

// Rows are locked in one order, so that renewals and releases of one owner cannot wait for each other.
const renewSql = (table: string): string => `
  with wanted as (select * from unnest($3::text[], $4::text[]) as k (stream, phase)),
       own as (
         select stream, phase from ${table} join wanted using (stream, phase)
         where owner = $1 order by stream, phase for update of lease),
       renewed as (
         update ${table} as held set expires_at = clock_timestamp() + $2 * interval '1 ms'
         from own where held.stream = own.stream and held.phase = own.phase
         returning held.stream, held.phase)
  select stream, phase from wanted except select stream, phase from renewed`;

const releaseSql = (table: string): string => `
  with own as (
    select stream, phase from ${table} join unnest($2::text[], $3::text[]) as k (stream, phase) using (stream, phase)
    where owner = $1 order by stream, phase for update of lease)
  delete from ${table} as held using own where held.stream = own.stream and held.phase = own.phase`;

const overdueSql = (table: string): string => `
  select stream, phase from ${table} where phase = $1 and expires_at <= clock_timestamp() order by expires_at limit $2`;

const heldNow = async (
  pool: Pool,
  table: string,
  key: LeaseKey,
): Promise<{ lease: 'held'; heldBy: string; expiresAt: Date }> => {
  const { rows } = await pool.query<Row>(`select owner, expires_at from ${table} where stream = $1 and phase = $2`, [
    key.stream,
    key.phase,
  ]);
  const [row] = rows;
  return { lease: 'held', heldBy: row?.owner ?? 'nobody any more', expiresAt: row?.expires_at ?? new Date(0) };
};
