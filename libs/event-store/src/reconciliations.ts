import type { QueryExecutorProvider } from 'kysely';
import { sql } from 'kysely';
import type { Reconciled } from './reconcile-projection.ts';

/** What the last comparison of a projection with the log found. Times are ISO 8601. */
export interface Reconciliation {
  readonly projection: string;
  readonly due_at: string | null;
  readonly started_at: string | null;
  /** Null while it runs, after a crash, or when there was none yet. */
  readonly finished_at: string | null;
  readonly events: number | null;
  readonly rows: number | null;
  /** Rows that differ. */
  readonly differing: number | null;
  readonly differences: Reconciled['differences'];
}

interface Row {
  readonly projection: string;
  readonly due_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly events: string | null;
  readonly rows: string | null;
  readonly differing: string | null;
  readonly differences: Reconciled['differences'] | null;
}

/** A time of day, by the clock of the database, in UTC. */
const nextAt = (timeOfDay: string) => {
  const today = sql`(date_trunc('day', clock_timestamp() at time zone 'utc') + ${timeOfDay}::time) at time zone 'utc'`;
  return sql`case when ${today} > clock_timestamp() then ${today} else ${today} + interval '1 day' end`;
};

/**
 * Claims the comparison that is due; the next is due at the same time of the next day, whatever becomes of this one.
 * @param timeOfDay `HH:MM`, UTC. The first call only notes when the first is due.
 * @returns whether it is the caller's to do: true for one process alone.
 */
export const claimReconciliation = async (
  db: QueryExecutorProvider,
  projection: string,
  timeOfDay: string,
): Promise<boolean> => {
  // A time of day that was changed counts from the next day on.
  await sql`
    insert into store.reconciliation as r (projection, due_at) values (${projection}, ${nextAt(timeOfDay)})
    on conflict (projection) do update set due_at = excluded.due_at where r.due_at > excluded.due_at`.execute(db);
  const { numAffectedRows } = await sql`
    update store.reconciliation
    set due_at = ${nextAt(timeOfDay)}, started_at = clock_timestamp(), finished_at = null
    where projection = ${projection} and due_at <= clock_timestamp()`.execute(db);
  return numAffectedRows === 1n;
};

/** Notes what was found; also for a comparison that somebody asked for. */
export const recordReconciliation = async (
  db: QueryExecutorProvider,
  projection: string,
  found: Pick<Reconciled, 'events' | 'rows' | 'differing' | 'differences'>,
): Promise<void> => {
  const { events, rows, differing } = found;
  const differences = JSON.stringify(found.differences);
  await sql`
    insert into store.reconciliation as r (projection, due_at, started_at, finished_at, events, rows, differing, differences)
    values (${projection}, 'infinity', clock_timestamp(), clock_timestamp(), ${events}, ${rows}, ${differing}, ${differences})
    on conflict (projection) do update set finished_at = excluded.finished_at, events = excluded.events,
      rows = excluded.rows, differing = excluded.differing, differences = excluded.differences`.execute(db);
};

/** Every comparison so far, by the name of the projection. */
export const reconciliations = async (db: QueryExecutorProvider): Promise<readonly Reconciliation[]> => {
  const { rows } = await sql<Row>`select * from store.reconciliation order by projection`.execute(db);
  const number = (text: string | null): number | null => (text === null ? null : Number(text));
  const time = (date: Date | null): string | null =>
    date instanceof Date && !Number.isNaN(date.getTime()) ? date.toISOString() : null;
  return rows.map((row) => ({
    projection: row.projection,
    due_at: time(row.due_at),
    started_at: time(row.started_at),
    finished_at: time(row.finished_at),
    events: number(row.events),
    rows: number(row.rows),
    differing: number(row.differing),
    differences: row.differences ?? [],
  }));
};
