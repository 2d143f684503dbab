import type { Append } from '@fixpoint/event-store/event-store';
import { type StoredAppend, storedAppend } from '@fixpoint/event-store/stored-event';
import type { Pool } from 'pg';

const COLUMNS = 12;

/**
 * The same rows into the same table, as fast as Postgres takes them: one statement of many rows, prepared, which checks no
 * version and tells nothing. What the rows hold is made as the store makes it, so that only the statement is compared.
 */
export const rawInsert = async (pool: Pool, appends: readonly Append[]): Promise<void> => {
  const rows = appends
    .map(stored)
    .flatMap(({ append, shard, events }) =>
      events.map(({ version, event, metadata, data, bytes, hash }) => [
        ...[append.stream, version, append.root, shard, event.type, event.schema_version, event.id, event.occurred_at],
        ...[metadata, data, bytes, hash],
      ]),
    );
  await pool.query({ name: `raw_${rows.length}`, text: textFor(rows.length), values: rows.flat() });
};

const stored = (append: Append): StoredAppend => {
  const result = storedAppend(append);
  if ('outcome' in result) throw new Error(JSON.stringify(result));
  return result;
};

const texts = new Map<number, string>();

const textFor = (rows: number): string => {
  const known = texts.get(rows);
  if (known !== undefined) return known;
  const row = (index: number): string =>
    `(1, ${Array.from({ length: COLUMNS }, (_, column) => `$${index * COLUMNS + column + 1}`).join(', ')})`;
  const text = `
    insert into store.event
      (epoch, stream, version, root, shard, type, schema_version, id, occurred_at, metadata, data, bytes, hash)
    values ${Array.from({ length: rows }, (_, index) => row(index)).join(', ')}`;
  texts.set(rows, text);
  return text;
};
