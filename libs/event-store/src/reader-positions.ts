import type { Cursor } from '@fixpoint/contracts/envelope';
import type { Client, Pool } from 'pg';

/** How far one reader of the log is. */
export interface ReaderPosition {
  /** `<service>__<reader>`. */
  readonly name: string;
  readonly cursor: Cursor;
  /** Age in ms of the oldest stored event that it has not dealt with, hidden ones too; 0 when there is none. */
  readonly lagMs: number;
  /** Whether some process holds its lease now. */
  readonly isKept: boolean;
}

interface PositionRow extends Cursor {
  readonly name: string;
  readonly lag_ms: number;
  readonly is_kept: boolean;
}

/** Measured against what is stored, not against the watermark: with a stuck mark every reader would seem up to date. */
const POSITIONS = `
select c.name, c.epoch, c.xid::text as xid, c.position::text as position, c.lease_until > clock_timestamp() as is_kept,
  coalesce(greatest(extract(epoch from clock_timestamp() - n.recorded_at) * 1000, 0), 0)::float8 as lag_ms
from store.checkpoint c
left join lateral (
  select e.recorded_at from store.event e where (e.epoch, e.xid, e.position) > (c.epoch, c.xid, c.position)
  order by e.epoch, e.xid, e.position limit 1
) n on true
where $1::text[] is null or c.name = any($1)
order by c.name`;

/** @param names of readers; null for all. Those that never ran have no position. */
export const readerPositions = async (
  session: Client | Pool,
  names: readonly string[] | null,
): Promise<readonly ReaderPosition[]> => {
  const { rows } = await session.query<PositionRow>({ name: 'reader_positions', text: POSITIONS, values: [names] });
  return rows.map(({ name, lag_ms: lagMs, is_kept: isKept, epoch, xid, position }) => ({
    ...{ name, lagMs, isKept },
    cursor: { epoch, xid, position },
  }));
};
