import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { AuditedEvent } from './audited-event.ts';
import { type CursorRow, foldRows, type RowRules, rowsJson, touchedKeys } from './fold-rows.ts';

/** Queries of this service are written per table; nothing is typed once for all. */
export type AuditDb = Kysely<unknown>;

/** The other half of a projection: where its rows are. */
export interface RowTable<Row extends CursorRow> {
  readonly name: string;
  readonly rules: RowRules<Row>;
  /** Columns of the primary key, in its order. */
  readonly key: readonly (keyof Row & string)[];
  /** All others. */
  readonly columns: readonly (keyof Row & string)[];
  /** Key of a row, as the rules name it. */
  keyOf(row: Row): string;
  /** Condition that holds for the rows of these keys. */
  where(keys: readonly string[]): RawBuilder<unknown>;
}

/** Where rows are written: the live read model in the schema `audit`, or one of the same shape beside it. */
export interface RowTarget {
  readonly db: AuditDb;
  readonly schema: string;
}

/** Changes the rows that a page of events concerns: one read and one write, whatever the page's size. */
export const applyToTable = async <Row extends CursorRow>(
  target: RowTarget,
  table: RowTable<Row>,
  events: readonly AuditedEvent[],
): Promise<void> => {
  const keys = touchedKeys(table.rules, events);
  if (keys.length === 0) return;
  const rows = new Map((await load(target, table, keys)).map((row) => [table.keyOf(row), row]));
  const changed = foldRows(table.rules, rows, events);
  if (changed.size > 0) await upsert(target, table, changed.values());
};

const load = async <Row extends CursorRow>(
  { db, schema }: RowTarget,
  table: RowTable<Row>,
  keys: readonly string[],
): Promise<readonly Row[]> =>
  (await sql<Row>`select * from ${sql.table(`${schema}.${table.name}`)} where ${table.where(keys)}`.execute(db)).rows;

const upsert = async <Row extends CursorRow>(
  { db, schema }: RowTarget,
  table: RowTable<Row>,
  rows: Iterable<Row>,
): Promise<void> => {
  const into = sql.table(`${schema}.${table.name}`);
  const columns = sql.join([...table.key, ...table.columns].map((column) => sql.ref(column)));
  const changes = sql.join(table.columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`));
  await sql`
    insert into ${into} (${columns})
    select ${columns} from json_populate_recordset(null::${into}, ${rowsJson(rows)}::json)
    on conflict (${sql.join(table.key.map((column) => sql.ref(column)))}) do update set ${changes}`.execute(db);
};
