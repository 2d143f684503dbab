import { CURSOR_START, type Cursor } from '@fixpoint/contracts/envelope';
import { type Kysely, sql } from 'kysely';
import type { EventStore } from './event-store.ts';
import { bucketRows, bucketSums, type ComparedTable, comparedTables, type RowText } from './projected-rows.ts';
import { checkpointOf, type Projection } from './projection.ts';
import { pageUntil } from './rebuild-projection.ts';

export interface ReconcileOptions<Tables> {
  /** With the rights of the service. Two connections are used for as long as it takes. */
  readonly db: Kysely<Tables>;
  readonly store: Pick<EventStore, 'readAll'>;
  readonly projection: Projection<Tables>;
  /** Events per transaction; default 5,000. */
  readonly pageSize?: number;
  /** Told the number of events folded so far. */
  readonly onProgress?: (events: number) => void;
  readonly signal?: AbortSignal;
}

/** A row where the projection does not say what the log says. */
export interface Difference {
  readonly table: string;
  /** Its key, as `root=r1 task=r1.f1`. */
  readonly row: string;
  /** `missing`: the projection lacks it. `extra`: no event makes it. `different`: it says something else. */
  readonly kind: 'missing' | 'extra' | 'different';
  /** What differs, as `status: running instead of completed`; empty unless `different`. */
  readonly detail: string;
}

export interface Reconciled {
  /** Events that the projection shows, and that were folded to compare. */
  readonly events: number;
  readonly cursor: Cursor;
  /** Rows compared. */
  readonly rows: number;
  /** Rows that differ. */
  readonly differing: number;
  /** The first of them, at most 20. */
  readonly differences: readonly Difference[];
}

const NAMED = 20;
const BUCKETS_AT_ONCE = 64;
/** Tables of one session: nobody else sees them, and they end with it. */
const OWN = 'pg_temp';

/**
 * Folds the log from its start into tables of this session, up to exactly where the live projection is, and compares row
 * by row. The live projection goes on meanwhile; it is read in one snapshot, in which its rows and its checkpoint agree.
 * @throws what the database says, or an event that can't be applied; the signal's reason when it aborts.
 */
export const reconcileProjection = <Tables>(options: ReconcileOptions<Tables>): Promise<Reconciled> =>
  options.db.connection().execute(async (session) => {
    await createOwn(session, options.projection);
    try {
      return await compareWithLive(session, options);
    } finally {
      await dropOwn(session, options.projection);
    }
  });

type Untyped = Kysely<unknown>;

const createOwn = async <Tables>(session: Kysely<Tables>, { schema, tables }: Projection<Tables>): Promise<void> => {
  for (const { name, given } of tables) {
    const [live, own] = [sql.table(`${schema}.${name}`), sql.table(`${OWN}.${name}`)];
    await sql`drop table if exists ${own}`.execute(session);
    await sql`create temporary table ${sql.ref(name)} (like ${live} including all)`.execute(session);
    if (given !== undefined)
      await sql`insert into ${own} select * from ${live} where ${sql.raw(given)}`.execute(session);
  }
};

const dropOwn = async <Tables>(session: Kysely<Tables>, { tables }: Projection<Tables>): Promise<void> => {
  for (const { name } of tables) await sql`drop table if exists ${sql.table(`${OWN}.${name}`)}`.execute(session);
};

const compareWithLive = async <Tables>(
  session: Kysely<Tables>,
  options: ReconcileOptions<Tables>,
): Promise<Reconciled> => {
  const { db, projection } = options;
  const near = await fold(session, options, { cursor: CURSOR_START, events: 0, until: null });
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (live) => {
      const until = await checkpointOf(live, projection.name);
      const { events, cursor } = await fold(session, options, { ...near, until });
      const sides = { own: session as unknown as Untyped, shown: live as unknown as Untyped };
      return { events, cursor, ...(await compareAll(sides, projection)) };
    });
};

interface Folded {
  readonly cursor: Cursor;
  readonly events: number;
}

/** Applies pages up to `until`; without it, to where the live projection is at each page. */
const fold = async <Tables>(
  session: Kysely<Tables>,
  { db, store, projection, pageSize = 5_000, onProgress, signal }: ReconcileOptions<Tables>,
  from: Folded & { readonly until: Cursor | null },
): Promise<Folded> => {
  let { cursor, events } = from;
  for (;;) {
    signal?.throwIfAborted();
    const until = from.until ?? (await checkpointOf(db, projection.name));
    const page = await pageUntil(store, { after: cursor, until, limit: pageSize });
    if (page.events.length === 0) return { cursor, events };
    await session.transaction().execute(async (transaction) => {
      await projection.apply({ transaction: transaction.withSchema(OWN), schema: OWN }, page.events);
    });
    cursor = page.next;
    events += page.events.length;
    onProgress?.(events);
  }
};

interface Sides {
  readonly own: Untyped;
  readonly shown: Untyped;
}

const compareAll = async (
  sides: Sides,
  projection: Pick<Projection<never>, 'tables' | 'schema'>,
): Promise<Pick<Reconciled, 'rows' | 'differing' | 'differences'>> => {
  const found: Difference[] = [];
  let rows = 0;
  for (const table of await comparedTables(sides.shown, projection)) {
    const compared = await compareTable(sides, table);
    rows += compared.rows;
    found.push(...compared.differences);
  }
  return { rows, differing: found.length, differences: found.slice(0, NAMED) };
};

const compareTable = async (
  { own, shown }: Sides,
  table: ComparedTable,
): Promise<{ readonly rows: number; readonly differences: readonly Difference[] }> => {
  const ours = { ...table, schema: OWN };
  const [expected, actual] = await Promise.all([bucketSums(own, ours), bucketSums(shown, table)]);
  const buckets = [...new Set([...expected.keys(), ...actual.keys()])].filter(
    (bucket) =>
      expected.get(bucket)?.checksum !== actual.get(bucket)?.checksum ||
      expected.get(bucket)?.rows !== actual.get(bucket)?.rows,
  );
  const differences: Difference[] = [];
  for (let at = 0; at < buckets.length; at += BUCKETS_AT_ONCE) {
    const some = buckets.slice(at, at + BUCKETS_AT_ONCE);
    const [fold, live] = await Promise.all([bucketRows(own, ours, some), bucketRows(shown, table, some)]);
    differences.push(...differencesOf(table, fold, live));
  }
  return { rows: [...expected.values()].reduce((sum, each) => sum + each.rows, 0), differences };
};

/** What two sets of rows of one table do not agree on. */
const differencesOf = (
  table: Pick<ComparedTable, 'table' | 'columns'>,
  fold: readonly RowText[],
  live: readonly RowText[],
): readonly Difference[] => {
  const name = ({ key }: RowText): string => JSON.stringify(key);
  const shown = new Map(live.map((row) => [name(row), row]));
  const expected = new Map(fold.map((row) => [name(row), row]));
  const lost = fold.flatMap((row) => differenceOf(table, row, shown.get(name(row))) ?? []);
  const extra = live
    .filter((row) => !expected.has(name(row)))
    .map((row): Difference => ({ ...placeOf(table, row), kind: 'extra', detail: '' }));
  return [...lost, ...extra];
};

const placeOf = ({ table: { name, key } }: Pick<ComparedTable, 'table'>, row: RowText) => ({
  table: name,
  row: key.map((column, index) => `${column}=${row.key[index]}`).join(' '),
});

const differenceOf = (
  table: Pick<ComparedTable, 'table' | 'columns'>,
  fold: RowText,
  live: RowText | undefined,
): Difference | null => {
  if (live === undefined) return { ...placeOf(table, fold), kind: 'missing', detail: '' };
  const cells = table.columns.flatMap((column, index) => {
    const [is, should] = [live.cells[index] ?? null, fold.cells[index] ?? null];
    return is === should ? [] : [`${column}: ${short(is)} instead of ${short(should)}`];
  });
  return cells.length === 0 ? null : { ...placeOf(table, fold), kind: 'different', detail: cells.join('; ') };
};

const CELL_LENGTH = 60;

const short = (cell: string | null): string =>
  cell === null ? 'nothing' : cell.length > CELL_LENGTH ? `${cell.slice(0, CELL_LENGTH)}…` : cell;
