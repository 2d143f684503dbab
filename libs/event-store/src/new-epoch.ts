import { CURSOR_START, type Cursor, compareCursors } from '@fixpoint/contracts/envelope';
import { Client } from 'pg';
import { MIGRATION_LOCK } from './migrate.ts';
import { OWNER_ROLE } from './roles.ts';
import { isAtHome, readIdentity, type StoreIdentity } from './server-identity.ts';

export interface NewEpochOptions {
  /** Connects as a member of `fixpoint_owner`. */
  readonly url: string;
  /** Kept with the epoch, for whoever wonders later. */
  readonly reason: string;
  /** True: everything is done and then undone. */
  readonly dryRun: boolean;
  /** True: even where the server is the one that the store was written on, as after putting older files back. */
  readonly onSameServer: boolean;
  /** How long processes that are just being refused may take to go away, ms. Default 5,000. */
  readonly patienceMs?: number;
}

/** What became of the place of one reader. */
export interface RebasedReader {
  readonly name: string;
  readonly from: Cursor;
  /** The same where the log has the event it stood at. */
  readonly to: Cursor;
  /** True: it has seen events that the log does not have, so its tables must be rebuilt. */
  readonly isAhead: boolean;
}

export interface NewEpoch {
  readonly epoch: number;
  readonly before: StoreIdentity;
  /** Newest event of the epochs before. */
  readonly newest: Cursor;
  readonly leases: readonly { readonly table: string; readonly dropped: number }[];
  readonly readers: readonly RebasedReader[];
}

/** Nothing was changed. `not_needed`: the store is where it was written. `in_use`: processes are connected to it. */
export class NewEpochRefused extends Error {
  override readonly name = 'NewEpochRefused';
  readonly code: 'not_needed' | 'in_use';

  constructor(code: 'not_needed' | 'in_use', message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Makes a store usable on the server it is on now: transaction ids count from another place here, so what is appended from
 * now on belongs to a new epoch, which sorts behind everything before. Leases name owners of another time and are dropped.
 * Readers keep their places, unless they are ahead of the log.
 * @throws {NewEpochRefused} when it is not needed, or the store is in use.
 */
export const newEpoch = async (options: NewEpochOptions): Promise<NewEpoch> => {
  const session = new Client({
    connectionString: options.url,
    connectionTimeoutMillis: 10_000,
    application_name: 'fixpoint store',
  });
  await session.connect();
  try {
    const before = await readIdentity(session);
    if (isAtHome(before) && !options.onSameServer)
      throw new NewEpochRefused('not_needed', `epoch ${before.epoch.number} was written on this very server`);
    await assertUnused(session, options.patienceMs ?? 5_000);
    return await begin(session, before, options);
  } finally {
    await session.end();
  }
};

const begin = async (session: Client, before: StoreIdentity, options: NewEpochOptions): Promise<NewEpoch> => {
  await session.query('begin');
  // No migration and no second new epoch meanwhile.
  await session.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await session.query(`set local role ${OWNER_ROLE}`);
  const newest = await newestCursor(session);
  const epoch = await raise(session, { before, newest, reason: options.reason });
  const leases = await dropLeases(session);
  const readers = await rebase(session);
  await session.query(options.dryRun ? 'rollback' : 'commit');
  return { epoch, before, newest, leases, readers };
};

const OTHERS = `
select pid, application_name as name from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and starts_with(application_name, 'fixpoint ')`;

interface Session {
  readonly pid: number;
  readonly name: string;
}

/** Processes that are refused come and go while their supervisor starts them again; those that stay are at work. */
const assertUnused = async (session: Client, patienceMs: number): Promise<void> => {
  const others = async (): Promise<Session[]> => (await session.query<Session>(OTHERS)).rows;
  const until = performance.now() + patienceMs;
  let staying = await others();
  while (staying.length > 0 && performance.now() < until) {
    await session.query('select pg_sleep(0.1)');
    const now = new Set((await others()).map(({ pid }) => pid));
    staying = staying.filter(({ pid }) => now.has(pid));
  }
  if (staying.length === 0) return;
  const names = staying.map(({ pid, name }) => `${name} (pid ${pid})`).join(', ');
  throw new NewEpochRefused('in_use', `still connected: ${names}`);
};

const newestCursor = async (session: Client): Promise<Cursor> => {
  const { rows } = await session.query<Cursor>(
    'select epoch, xid, position from store.event order by epoch desc, xid desc, position desc limit 1',
  );
  return rows[0] ?? CURSOR_START;
};

interface Raise {
  readonly before: StoreIdentity;
  readonly newest: Cursor;
  readonly reason: string;
}

const raise = async (session: Client, { before, newest, reason }: Raise): Promise<number> => {
  const epoch = Math.max(before.epoch.number, newest.epoch) + 1;
  const { systemIdentifier, timeline } = before.found;
  await session.query('update store.identity set epoch = $1, system_identifier = $2, timeline = $3', [
    ...[epoch, systemIdentifier, timeline],
  ]);
  await session.query(
    `insert into store.epoch (epoch, system_identifier, timeline, began_by, reason, after_epoch, after_xid, after_position)
     values ($1, $2, $3, session_user, $4, $5, $6, $7)`,
    [epoch, systemIdentifier, timeline, reason, newest.epoch, newest.xid, newest.position],
  );
  return epoch;
};

/** Every service keeps its leases in a table of this name in its own schema. */
const dropLeases = async (session: Client): Promise<NewEpoch['leases']> => {
  const { rows } = await session.query<{ schema: string }>(
    `select n.nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relname = 'lease' and c.relkind = 'r' and c.relowner = $1::regrole order by 1`,
    [OWNER_ROLE],
  );
  const dropped = [];
  for (const { schema } of rows) {
    const { rowCount } = await session.query(`delete from ${session.escapeIdentifier(schema)}.lease`);
    dropped.push({ table: `${schema}.lease`, dropped: rowCount ?? 0 });
  }
  return dropped;
};

interface PlaceRow extends Cursor {
  readonly name: string;
  readonly last_epoch: number | null;
  readonly last_xid: string | null;
  readonly last_position: string | null;
}

/** A place is that of an event, or the start of the log. A higher fence keeps whoever moved it before from doing so again. */
const rebase = async (session: Client): Promise<readonly RebasedReader[]> => {
  const { rows } = await session.query<PlaceRow>(
    `select c.name, c.epoch, c.xid, c.position, e.epoch as last_epoch, e.xid as last_xid, e.position as last_position
     from store.checkpoint c
     left join lateral (
       select epoch, xid, position from store.event
       where (epoch, xid, position) <= (c.epoch, c.xid, c.position)
       order by epoch desc, xid desc, position desc limit 1
     ) e on true
     order by c.name`,
  );
  const readers = rows.map(rebased);
  for (const { name, to } of readers) {
    await session.query(
      `update store.checkpoint set epoch = $2, xid = $3, position = $4, owner = '', fence = fence + 1,
         lease_until = '-infinity' where name = $1`,
      [name, to.epoch, to.xid, to.position],
    );
  }
  return readers;
};

const rebased = (row: PlaceRow): RebasedReader => {
  const { name, epoch, xid, position, last_epoch: lastEpoch, last_xid: lastXid, last_position: lastPosition } = row;
  const from = { epoch, xid, position };
  const isEmpty = lastEpoch === null || lastXid === null || lastPosition === null;
  const to = isEmpty ? CURSOR_START : { epoch: lastEpoch, xid: lastXid, position: lastPosition };
  return { name, from, to, isAhead: compareCursors(to, from) !== 0 };
};
