import type { Cursor } from '@fixpoint/contracts/envelope';

/**
 * The oldest transaction of the whole server that has written and not ended. What is appended after it began stays
 * invisible to every reader until it ends. All fields but `xid` are null for one that has ended meanwhile or that the
 * asking role may not see.
 */
export interface WatermarkHolder {
  /** Its transaction id: the same as long as it is the same transaction. */
  readonly xid: string;
  /** Process on the server; null for a prepared transaction. */
  readonly pid: number | null;
  /** Name of a prepared transaction; null for a session. */
  readonly prepared: string | null;
  readonly database: string | null;
  readonly user: string | null;
  readonly application: string | null;
  /** What the session does, as `idle in transaction`. */
  readonly state: string | null;
  /** When the transaction began, ISO 8601 in UTC. */
  readonly since: string | null;
}

/** Below which place everything is visible, and what it waits for. */
export interface Watermark {
  /** Newest event that readers may see. */
  readonly visible: Cursor;
  /** Newest event that is stored; the same as `visible` when nothing is hidden. */
  readonly newest: Cursor;
  /** Age in ms of the oldest stored event that is not visible yet; 0 when there is none. */
  readonly ageMs: number;
  /** Who holds it back, whether or not anything is hidden by that yet; null when nobody does. */
  readonly holder: WatermarkHolder | null;
}

/** A holder in words, for logs and alarms. */
export const holderText = (holder: WatermarkHolder): string => {
  const { pid, prepared, database, user, application, state, since } = holder;
  const place = `database ${database}, user ${user}`;
  if (pid !== null) return `pid ${pid} (${application}, ${place}, ${state}, transaction open since ${since})`;
  if (prepared !== null) return `prepared transaction ${prepared} (${place}, since ${since})`;
  return `transaction ${holder.xid}, which has ended meanwhile or which this role may not see`;
};
