import { CURSOR_START, type Cursor } from '@fixpoint/contracts/envelope';
import type { Client, Pool } from 'pg';
import type { Watermark, WatermarkHolder } from './watermark.ts';

/**
 * The age is that of the oldest stored event that the watermark still hides. Whoever holds the mark is asked for even when
 * nothing is hidden: an idle store with a stuck transaction is about to hide whatever comes next. A transaction that is the
 * newest of all does not show in the snapshot (its xmin is then the next id, too), only in the lists.
 */
const WATERMARK = `
with mark as materialized (
  select (select epoch from store.identity) as epoch, pg_snapshot_xmin(s) as xmin, pg_snapshot_xmin(s) < pg_snapshot_xmax(s) as held
  from pg_current_snapshot() s
),
hidden as (
  select e.recorded_at from store.event e
  where (e.epoch, e.xid) >= ((select epoch from mark), (select xmin from mark))
  order by e.epoch, e.xid, e.position limit 1
),
visible as (
  select e.epoch, e.xid::text, e.position::text from store.event e
  where (e.epoch, e.xid) < ((select epoch from mark), (select xmin from mark))
  order by e.epoch desc, e.xid desc, e.position desc limit 1
),
newest as (
  select e.epoch, e.xid::text, e.position::text from store.event e order by e.epoch desc, e.xid desc, e.position desc limit 1
),
holder as (
  select mark.xmin::text as xid, a.pid, p.gid as prepared, coalesce(a.datname, p.database)::text as database,
    coalesce(a.usename, p.owner)::text as "user", a.application_name as application, a.state,
    to_char(coalesce(a.xact_start, p.prepared) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since
  from mark
  left join pg_stat_activity a on a.backend_xid = mark.xmin::xid
  left join pg_prepared_xacts p on p.transaction = mark.xmin::xid
  where mark.held or a.pid is not null or p.gid is not null limit 1
)
select (select to_json(visible) from visible) as visible, (select to_json(newest) from newest) as newest,
  coalesce((select greatest(extract(epoch from clock_timestamp() - recorded_at) * 1000, 0) from hidden), 0)::float8 as age_ms,
  (select to_json(holder) from holder) as holder`;

interface WatermarkRow {
  readonly visible: Cursor | null;
  readonly newest: Cursor | null;
  readonly age_ms: number;
  readonly holder: WatermarkHolder | null;
}

/** One statement: mark, events and holder belong to one moment. */
export const readWatermark = async (session: Client | Pool): Promise<Watermark> => {
  const { rows } = await session.query<WatermarkRow>({ name: 'watermark', text: WATERMARK });
  const [row] = rows;
  if (row === undefined) throw new Error('The watermark has no row');
  const { visible, newest, age_ms: ageMs, holder } = row;
  return { visible: visible ?? CURSOR_START, newest: newest ?? CURSOR_START, ageMs, holder };
};
