import { setTimeout as sleep } from 'node:timers/promises';
import { CURSOR_START, type Cursor, compareCursors } from '@fixpoint/contracts/envelope';
import { type Kysely, sql, type Transaction } from 'kysely';
import { besideIndexes, besideSchema, createBeside, dropBeside, swapBeside } from './beside-tables.ts';
import type { EventStore, Page } from './event-store.ts';
import { sqlState } from './postgres-fault.ts';
import { checkpointOf, type Projection } from './projection.ts';

export interface RebuildOptions<Tables> {
  /** With the rights of the owner: tables are made and replaced. Needs two connections. */
  readonly db: Kysely<Tables>;
  readonly store: Pick<EventStore, 'readAll'>;
  readonly projection: Projection<Tables>;
  /** Names this rebuild; different for each. */
  readonly owner: string;
  /** Events per transaction; default 5,000. */
  readonly pageSize?: number;
  readonly onProgress?: (progress: RebuildProgress) => void;
}

export interface RebuildProgress {
  /** Applied so far. */
  readonly events: number;
  /** How far of the way to the live projection, 0 to 1; positions have gaps, so about. */
  readonly share: number;
}

export interface Rebuilt {
  readonly events: number;
  /** Where the projection stood when it was replaced: nothing older or newer is in its tables. */
  readonly cursor: Cursor;
}

/** Another process rebuilds this projection, or took over from one that went silent. */
export class RebuildElsewhere extends Error {
  override readonly name = 'RebuildElsewhere';
}

const LEASE_MS = 30_000;
/** An index takes no longer: a statement of the owner's pool is given up then. */
const INDEX_MS = 600_000;
/** How long whoever uses the tables is waited for, with everybody else behind us. */
const LOCK_MS = 2_000;
const ATTEMPTS = 30;
const PAUSE_MS = 200;

/**
 * Fills tables beside the live ones from the start of the log and swaps them in, while the live projection goes on. The
 * swap waits for the page in hand, brings the new tables to exactly the live checkpoint, and raises the fence: whoever
 * kept the projection goes on with the new tables, and a read that named a write still finds it. Nothing is sent.
 * @throws {RebuildElsewhere} when it is being rebuilt already.
 * @throws what the database or an event of the log says; the live tables are then as they were.
 */
export const rebuildProjection = async <Tables>(options: RebuildOptions<Tables>): Promise<Rebuilt> => {
  const { db, projection } = options;
  await begin(options);
  try {
    let state = await follow(options, { cursor: CURSOR_START, events: 0 });
    await index(options);
    for (let attempt = 1; ; attempt += 1) {
      state = await follow(options, state);
      const swapped = await swap(options, state, attempt < ATTEMPTS);
      if (swapped !== null) return swapped;
      await sleep(PAUSE_MS);
    }
  } catch (error) {
    await abandon(db, projection, options.owner);
    throw error;
  }
};

interface Standing {
  readonly cursor: Cursor;
  readonly events: number;
}

const checkpointName = ({ name }: { readonly name: string }): string => `${name}__beside`;
const leaseUntil = sql`clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'`;
/** The queries here are about tables that no type of a projection knows. */
const untyped = <Tables>(db: Kysely<Tables>): Kysely<unknown> => db as unknown as Kysely<unknown>;

const begin = <Tables>({ db, projection, owner }: RebuildOptions<Tables>): Promise<void> =>
  untyped(db)
    .transaction()
    .execute(async (transaction) => {
      const { rows } = await sql`
        insert into store.checkpoint as c (name, epoch, xid, position, owner, fence, lease_until)
        values (${checkpointName(projection)}, 0, '0', 0, ${owner}, 1, ${leaseUntil})
        on conflict (name) do update set epoch = 0, xid = '0', position = 0, owner = excluded.owner, fence = c.fence + 1,
          lease_until = excluded.lease_until
        where c.lease_until < clock_timestamp() returning fence`.execute(transaction);
      if (rows.length === 0) throw new RebuildElsewhere(`${projection.name} is being rebuilt already`);
      await createBeside(transaction, projection);
    });

const abandon = async <Tables>(db: Kysely<Tables>, projection: Projection<Tables>, owner: string): Promise<void> => {
  await untyped(db)
    .transaction()
    .execute(async (transaction) => {
      const { numAffectedRows } = await sql`
        delete from store.checkpoint where name = ${checkpointName(projection)} and owner = ${owner}`.execute(
        transaction,
      );
      // Of somebody else by now.
      if (numAffectedRows === 1n) await dropBeside(transaction, projection);
    });
};

/** Applies what the live projection shows, a page per transaction; the next page is read meanwhile. */
const follow = async <Tables>(options: RebuildOptions<Tables>, from: Standing): Promise<Standing> => {
  const { db, onProgress } = options;
  let standing = from;
  let reading = read(options, standing.cursor);
  for (;;) {
    const { page, until } = await reading;
    if (page.events.length === 0) return standing;
    reading = read(options, page.next);
    // Not left alone should the page before it fail.
    reading.catch(() => undefined);
    await db.transaction().execute(async (transaction) => {
      await hold(transaction, options, page.next);
      await applyPage(transaction, options, page);
    });
    standing = { cursor: page.next, events: standing.events + page.events.length };
    onProgress?.({ events: standing.events, share: shareOf(page.next, until) });
  }
};

/** One index after the other; nobody else may take the rebuild over before one is done. */
const index = async <Tables>({ db, projection, owner }: RebuildOptions<Tables>): Promise<void> => {
  for (const statement of await besideIndexes(untyped(db), projection)) {
    await sql`
      update store.checkpoint set lease_until = clock_timestamp() + ${INDEX_MS} * interval '1 millisecond'
      where name = ${checkpointName(projection)} and owner = ${owner}`.execute(db);
    await sql.raw(statement).execute(db);
  }
};

const shareOf = (cursor: Cursor, until: Cursor): number =>
  Math.min(1, Number(cursor.position) / Math.max(1, Number(until.position)));

/** A page of what the live projection has applied by now. */
const read = async <Tables>(
  { db, store, projection, pageSize = 5_000 }: RebuildOptions<Tables>,
  after: Cursor,
): Promise<{ readonly page: Page; readonly until: Cursor }> => {
  const until = await checkpointOf(db, projection.name);
  const page = await pageUntil(store, { after, until, limit: pageSize });
  projection.prepare?.(page.events);
  return { page, until };
};

interface Stretch {
  readonly after: Cursor;
  /** Inclusive. */
  readonly until: Cursor;
  readonly limit: number;
}

/** Like `readAll`, without anything behind `until`. */
export const pageUntil = async (
  store: Pick<EventStore, 'readAll'>,
  { after, until, limit }: Stretch,
): Promise<Page> => {
  if (compareCursors(after, until) >= 0) return { events: [], next: after };
  const page = await store.readAll(after, limit);
  const events = page.events.filter(({ cursor }) => compareCursors(cursor, until) <= 0);
  return { events, next: events.at(-1)?.cursor ?? after };
};

/** Moves our checkpoint; what follows in the transaction is written only while the rebuild is still ours. */
const hold = async <Tables>(
  transaction: Transaction<Tables>,
  { projection, owner }: RebuildOptions<Tables>,
  { epoch, xid, position }: Cursor,
): Promise<void> => {
  const { numAffectedRows } = await sql`
    update store.checkpoint
    set epoch = ${epoch}, xid = ${xid}, position = ${position}, moved_at = clock_timestamp(), lease_until = ${leaseUntil}
    where name = ${checkpointName(projection)} and owner = ${owner}`.execute(transaction);
  if (numAffectedRows !== 1n) throw new RebuildElsewhere(`${projection.name} is being rebuilt by somebody else now`);
};

const applyPage = async <Tables>(
  transaction: Transaction<Tables>,
  { projection }: RebuildOptions<Tables>,
  { events }: Page,
): Promise<void> => {
  const schema = besideSchema(projection.schema);
  try {
    await projection.apply({ transaction: transaction.withSchema(schema), schema }, events);
  } catch (error) {
    const place = `${events[0]?.id} to ${events.at(-1)?.id}`;
    throw new Error(`${projection.name} can't be rebuilt: an event of ${place} fails`, { cause: error });
  }
};

/** @returns null when somebody used the tables all the time, and `again` allows another try. */
const swap = async <Tables>(
  options: RebuildOptions<Tables>,
  standing: Standing,
  again: boolean,
): Promise<Rebuilt | null> => {
  try {
    return await options.db.transaction().execute((transaction) => swapNow(transaction, options, standing));
  } catch (error) {
    if (again && sqlState(error) === '55P03') return null;
    throw error;
  }
};

const swapNow = async <Tables>(
  transaction: Transaction<Tables>,
  options: RebuildOptions<Tables>,
  standing: Standing,
): Promise<Rebuilt> => {
  const { projection } = options;
  const { name } = projection;
  await sql`set local lock_timeout = ${sql.lit(LOCK_MS)}`.execute(transaction);
  // The lock of the checkpoint: a page in hand is committed before, none can be begun behind.
  const { rows } = await sql<Cursor>`
    update store.checkpoint set fence = fence + 1, lease_until = '-infinity' where name = ${name}
    returning epoch, xid, position`.execute(transaction);
  const until = rows[0] ?? CURSOR_START;
  await hold(transaction, options, until);
  const { events } = await finish(transaction, options, { standing, until });
  await swapBeside(transaction as unknown as Transaction<unknown>, projection);
  await sql`delete from store.checkpoint where name = ${checkpointName(projection)}`.execute(transaction);
  return { events, cursor: until };
};

const finish = async <Tables>(
  transaction: Transaction<Tables>,
  options: RebuildOptions<Tables>,
  { standing, until }: { readonly standing: Standing; readonly until: Cursor },
): Promise<Standing> => {
  let { cursor: after, events } = standing;
  for (;;) {
    const page = await pageUntil(options.store, { after, until, limit: options.pageSize ?? 5_000 });
    if (page.events.length === 0) return { cursor: after, events };
    await applyPage(transaction, options, page);
    after = page.next;
    events += page.events.length;
  }
};
