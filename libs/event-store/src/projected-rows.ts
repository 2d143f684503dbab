import { type Kysely, sql } from 'kysely';
import type { ProjectedTable, Projection } from './projection.ts';

/** Rows of many tables are compared by sums over so many groups of keys, so that only groups that differ are read. */
const BUCKETS = 4_096;

/** How many rows a table has and what they say, whatever their order; columns that others keep left out. */
export interface TableSum {
  readonly rows: number;
  /** Sum of the rows' 64-bit hashes, as a decimal number. */
  readonly checksum: string;
}

/** A row, told by the texts of its columns; null for SQL null. */
export interface RowText {
  readonly key: readonly (string | null)[];
  readonly cells: readonly (string | null)[];
}

/** A table at a place, as it is compared. */
export interface ComparedTable {
  readonly table: ProjectedTable;
  readonly schema: string;
  /** All columns that events alone decide, key included, in the order of the table. */
  readonly columns: readonly string[];
  /** ISO 8601, by the database's clock: rows that may have been removed by then are left out. */
  readonly asOf: string;
}

type Db = Pick<Kysely<unknown>, 'getExecutor'>;

/** Columns of a table in its order. */
export const columnsOf = async (db: Db, schema: string, table: string): Promise<readonly string[]> => {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = ${`${schema}.${table}`}::regclass and attnum > 0 and not attisdropped order by attnum`.execute(db);
  return rows.map(({ name }) => name);
};

/** The live tables of a projection. With another `schema`, they are tables of the same shape there. */
export const comparedTables = async (
  db: Db,
  { tables, schema }: Pick<Projection<never>, 'tables' | 'schema'>,
): Promise<readonly ComparedTable[]> => {
  const asOf = (await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db)).rows[0]?.now ?? '';
  const compared: ComparedTable[] = [];
  for (const table of tables) {
    const columns = await columnsOf(db, schema, table.name);
    compared.push({ table, schema, asOf, columns: columns.filter((name) => table.kept?.includes(name) !== true) });
  }
  return compared;
};

const from = ({ schema, table, asOf }: ComparedTable) => {
  const rows = sql`from ${sql.table(`${schema}.${table.name}`)}`;
  return table.removableAfter === undefined
    ? rows
    : sql`${rows} where ${sql.ref(table.removableAfter)} > ${asOf}::timestamptz`;
};

const list = (columns: readonly string[]) => sql.join(columns.map((name) => sql.ref(name)));
const hashOf = (columns: readonly string[]) => sql`hashtextextended(row(${list(columns)})::text, 0)`;
const bucketOf = ({ table }: ComparedTable) => sql`(${hashOf(table.key)} & ${BUCKETS - 1})`;

/** Rows and checksum of a whole table. */
export const tableSum = async (db: Db, compared: ComparedTable): Promise<TableSum> => {
  const { rows } = await sql<{ count: string; checksum: string }>`
    select count(*) as count, coalesce(sum(${hashOf(compared.columns)}), 0)::text as checksum
    ${from(compared)}`.execute(db);
  return { rows: Number(rows[0]?.count ?? 0), checksum: rows[0]?.checksum ?? '0' };
};

/** The same by groups of keys. */
export const bucketSums = async (db: Db, compared: ComparedTable): Promise<ReadonlyMap<number, TableSum>> => {
  const { rows } = await sql<{ bucket: string; count: string; checksum: string }>`
    select ${bucketOf(compared)} as bucket, count(*) as count, sum(${hashOf(compared.columns)})::text as checksum
    ${from(compared)} group by 1`.execute(db);
  return new Map(rows.map(({ bucket, count, checksum }) => [Number(bucket), { rows: Number(count), checksum }]));
};

/** The rows of some groups of keys. */
export const bucketRows = async (
  db: Db,
  compared: ComparedTable,
  buckets: readonly number[],
): Promise<readonly RowText[]> => {
  const texts = (columns: readonly string[]) =>
    sql`array[${sql.join(columns.map((name) => sql`${sql.ref(name)}::text`))}]::text[]`;
  const { rows } = await sql<RowText>`
    select key, cells from (
      select ${bucketOf(compared)} as bucket, ${texts(compared.table.key)} as key, ${texts(compared.columns)} as cells
      ${from(compared)}
    ) each where bucket = any(${buckets}::bigint[])`.execute(db);
  return rows;
};
