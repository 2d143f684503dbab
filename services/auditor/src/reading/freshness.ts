import type { Clock } from '@fixpoint/contracts/clock';
import { CURSOR_START, type Cursor, compareCursors } from '@fixpoint/contracts/envelope';
import type { Changes } from '@fixpoint/event-store/changes';
import { sql } from 'kysely';
import type { AuditDb } from '../projections/row-table.ts';

/** Checkpoint of the read model, and part of every event that this service may write. */
export const READ_MODEL = 'auditor__read_model';

/** Another replica may be the one that moves the read model: its changes are only seen by looking. */
const LOOK_MS = 50;

export interface Freshness {
  readonly db: AuditDb;
  readonly clock: Clock;
  /** Announced whenever this process moved the read model. */
  readonly changes: Changes;
}

/** How far the read model is. */
export const readModelCursor = async (db: AuditDb): Promise<Cursor> => {
  const { rows } = await sql<Cursor>`
    select epoch, xid, position from store.checkpoint where name = ${READ_MODEL}`.execute(db);
  return rows[0] ?? CURSOR_START;
};

/** Waits until the read model shows `cursor`. @returns false when it did not within `timeoutMs`. */
export const shownWithin = async (freshness: Freshness, cursor: Cursor, timeoutMs: number): Promise<boolean> => {
  const { db, clock, changes } = freshness;
  const deadline = clock.monotonicMs() + timeoutMs;
  const never = new AbortController().signal;
  while (compareCursors(await readModelCursor(db), cursor) < 0) {
    if (clock.monotonicMs() >= deadline) return false;
    await changes.next(LOOK_MS, never);
  }
  return true;
};
