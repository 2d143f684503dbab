import { CURSOR_START, type Cursor } from '@fixpoint/contracts/envelope';
import {
  type CheckpointClaim,
  claimCheckpoint,
  type HeldCheckpoint,
  moveCheckpoint,
  releaseCheckpoint,
} from '@fixpoint/event-store/checkpoint';
import { sql } from 'kysely';
import type { AuditDb } from '../projections/row-table.ts';

/** How far the feed is, and who may write it. */
export interface FeedCheckpoint {
  /** How long a claim holds without a renewal, ms. */
  readonly leaseMs: number;
  /** Claims it, or renews the claim. @returns null when another process has it */
  claim(): Promise<HeldCheckpoint | null>;
  /** @returns false when another process has claimed it meanwhile */
  move(fence: string, next: Cursor): Promise<boolean>;
  release(fence: string): Promise<void>;
  /** Where a feed begins that has nothing: before the oldest event that its stream would still have. */
  beginning(): Promise<Cursor>;
}

/** As long as messages are kept on the broker. */
const RETENTION_MS = 3 * 24 * 3_600_000;
/** More events than a stream of the usual size takes; looking for the beginning never walks further back. */
const MOST_EVENTS = 1_000_000;

/** The checkpoint in the database of the store. */
export const feedCheckpoint = (db: AuditDb, claim: CheckpointClaim): FeedCheckpoint => {
  const { name, leaseMs } = claim;
  return {
    leaseMs,
    claim: () => claimCheckpoint(db, claim),
    move: (fence, next) => moveCheckpoint(db, { name, leaseMs, fence }, next),
    release: (fence) => releaseCheckpoint(db, name, fence),
    beginning: () => beginning(db),
  };
};

/** Of what is visible only: an append that is still under way has its place behind it. */
const beginning = async (db: AuditDb): Promise<Cursor> => {
  const { rows } = await sql<Cursor>`
    with visible as materialized (
      select epoch, xid, position, recorded_at from store.event
      where (epoch, xid) < ((select epoch from store.identity), pg_snapshot_xmin(pg_current_snapshot()))
      order by epoch desc, xid desc, position desc limit ${MOST_EVENTS}
    ),
    kept as (
      select epoch, xid, position - 1 as position from visible
      where recorded_at > clock_timestamp() - ${RETENTION_MS} * interval '1 millisecond'
      order by epoch, xid, position limit 1
    ),
    newest as (
      select epoch, xid, position from visible order by epoch desc, xid desc, position desc limit 1
    )
    select * from kept union all select * from newest where not exists (select from kept)`.execute(db);
  return rows[0] ?? CURSOR_START;
};
