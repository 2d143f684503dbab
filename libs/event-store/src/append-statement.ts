import type { StoredAppend } from './stored-event.ts';

/** Types of the parameters of one row, in order. */
const COLUMNS = ['text', 'int', 'int', 'text', 'int2', 'text', 'int2', 'uuid', 'text', 'json', 'json', 'int', 'bytea'];

const row = (index: number): string => {
  const first = index * COLUMNS.length;
  // Types on the first row are enough for Postgres, and parse faster.
  return `(${COLUMNS.map((type, column) => (index === 0 ? `$${first + column + 1}::${type}` : `$${first + column + 1}`)).join(',')})`;
};

/**
 * `stream_head` decides: a stream is won when its head is where the writer saw it, in this statement's snapshot and
 * again under the row's lock. Only then are its events inserted, so a decision is never torn. Heads are taken in the
 * order of their names, so two batches cannot wait for each other. A head that is already locked by a faster writer is
 * waited for and then found moved. The statement appends nothing in a transaction that already owns an xid: the order
 * of xids would then no longer be the order of versions.
 */
const appendText = (size: number): string => `
with i as materialized (
  select * from (values ${Array.from({ length: size }, (_, index) => row(index)).join(',')})
  as t(stream, version, decided_on, root, shard, type, schema_version, id, occurred_at, metadata, data, bytes, hash)
  where stream is not null
),
won as (
  insert into store.stream_head as h (stream, version, decided_on)
  select x.stream, x.top, x.decided_on
  from (select stream, max(version) as top, min(decided_on) as decided_on from i group by stream) x
  where pg_current_xact_id_if_assigned() is null
    and coalesce((select e.version from store.stream_head e where e.stream = x.stream), 0) = x.decided_on
  order by x.stream collate "C"
  on conflict (stream) do update set version = excluded.version, decided_on = excluded.decided_on
  where h.version = excluded.decided_on
  returning stream
)
insert into store.event
  (epoch, stream, version, root, shard, type, schema_version, id, occurred_at, metadata, data, bytes, hash)
select (select epoch from store.identity), i.stream, i.version, i.root, i.shard, i.type, i.schema_version, i.id,
  i.occurred_at, i.metadata, i.data, i.bytes, i.hash
from i join won on won.stream = i.stream
order by i.stream collate "C", i.version
returning stream, version, epoch, xid, position`;

const texts = new Map<number, string>();

export interface AppendStatement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

const NO_ROW: readonly null[] = COLUMNS.map(() => null);

/** One statement for a batch. Sizes are powers of two, so that a connection prepares few texts; unused rows are null. */
export const appendStatement = (batch: readonly StoredAppend[]): AppendStatement => {
  const values: unknown[] = [];
  let rows = 0;
  for (const { append, shard, events } of batch) {
    for (const { version, event, metadata, data, bytes, hash } of events) {
      values.push(append.stream, version, version - 1, append.root, shard, event.type, event.schema_version, event.id);
      values.push(event.occurred_at, metadata, data, bytes, hash);
    }
    rows += events.length;
  }
  const size = 2 ** Math.ceil(Math.log2(rows));
  for (let index = rows; index < size; index += 1) values.push(...NO_ROW);
  const text = texts.get(size) ?? appendText(size);
  texts.set(size, text);
  return { name: `append_${size}`, text, values };
};
