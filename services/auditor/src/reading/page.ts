import { displayText } from '@fixpoint/event-store/display-text';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { AuditDb } from '../projections/row-table.ts';

/** A `cursor` that no page of this kind has handed out. */
export class CursorInvalid extends Error {
  override readonly name = 'CursorInvalid';
}

/** What every page is asked for with. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins; null on the last one. */
  readonly next: string | null;
}

/** Values of the columns that a page is ordered by: together unique, and never changed once written. */
export type Key = readonly (string | number)[];

const int4 = z.int().min(0).max(2_147_483_647);
const keySchema = z.array(z.union([z.string().max(300), int4])).max(5);

export const encodeCursor = (key: Key): string => Buffer.from(JSON.stringify(key)).toString('base64url');

/** @throws {CursorInvalid} when it does not have these kinds of values. */
export const decodeCursor = (cursor: string, kinds: readonly ('string' | 'number')[]): Key => {
  const key = keySchema.safeParse(parse(Buffer.from(cursor, 'base64url').toString()));
  const fits = key.success && key.data.length === kinds.length;
  if (!fits || key.data.some((value, index) => typeof value !== kinds[index]))
    throw new CursorInvalid('cursor_invalid');
  return key.data.map((value) => (typeof value === 'string' ? displayText(value) : value));
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

export type Condition = RawBuilder<unknown>;

/** Columns that must have a value, where one is asked for. Texts are compared as they are shown. */
export const equals = (wanted: Readonly<Record<string, string | undefined>>): Condition[] =>
  Object.entries(wanted).flatMap(([column, value]) =>
    value === undefined ? [] : [sql`${sql.ref(column)} = ${displayText(value)}`],
  );

export const whereAll = (conditions: readonly Condition[]): Condition =>
  conditions.length === 0 ? sql`` : sql`where ${sql.join([...conditions], sql` and `)}`;

/** A page of one view, newest first. */
export interface PageSource<Row> {
  readonly view: string;
  /** Ordered by these, descending. */
  readonly order: readonly (keyof Row & string)[];
  readonly kinds: readonly ('string' | 'number')[];
  readonly keyOf: (row: Row) => Key;
}

export const readPage = async <Row>(
  db: AuditDb,
  source: PageSource<Row>,
  { conditions, query }: { readonly conditions: readonly Condition[]; readonly query: PageQuery },
): Promise<Page<Row>> => {
  const columns = source.order.map((column) => sql.ref(column));
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, source.kinds);
  const beyond = after ? [sql`(${sql.join(columns)}) < (${sql.join([...after])})`] : [];
  const { rows } = await sql<Row>`
    select * from ${sql.table(source.view)} ${whereAll([...conditions, ...beyond])}
    order by ${sql.join(columns.map((column) => sql`${column} desc`))}
    limit ${query.limit + 1}`.execute(db);
  return pageOf(rows, query.limit, source.keyOf);
};

/** @param rows one more than the page holds, if there are as many. */
export const pageOf = <Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => Key): Page<Row> => {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null };
};
