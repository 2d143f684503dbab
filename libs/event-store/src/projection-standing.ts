import { type QueryExecutorProvider, sql } from 'kysely';
import { type Reconciliation, reconciliations } from './reconciliations.ts';

/** How a projection stands. Times are ISO 8601, by the database's clock. */
export interface ProjectionStanding {
  readonly name: string;
  /** Cursor as `epoch.xid.position`; null before the first event. */
  readonly cursor: string | null;
  /** Events behind it that are committed, counted up to 100,000. */
  readonly behind: number;
  /** How long the oldest of them has been waiting, ms; 0 when there is none. */
  readonly behind_ms: number;
  readonly moved_at: string | null;
  /** The process that keeps it up to date; null when nobody does. */
  readonly kept_by: string | null;
  /** Whether somebody builds it anew beside. */
  readonly rebuilding: boolean;
  /** The last comparison with the log; null when there was none. */
  readonly reconciled: Pick<Reconciliation, 'finished_at' | 'events' | 'rows' | 'differing'> | null;
}

interface Row {
  readonly cursor: string | null;
  readonly behind: string;
  readonly behind_ms: number;
  readonly moved_at: Date | null;
  readonly kept_by: string | null;
  readonly rebuilding: boolean;
}

const COUNTED = 100_000;

/** @param names of projections, in the order of the answer. */
export const projectionStandings = async (
  db: QueryExecutorProvider,
  names: readonly string[],
): Promise<readonly ProjectionStanding[]> => {
  const compared = new Map((await reconciliations(db)).map((each) => [each.projection, each]));
  const standings: ProjectionStanding[] = [];
  for (const name of names) {
    const { moved_at, behind, ...row } = await standingOf(db, name);
    const { finished_at = null, events = null, rows = null, differing = null } = compared.get(name) ?? {};
    standings.push({
      name,
      ...row,
      behind: Number(behind),
      moved_at: moved_at?.toISOString() ?? null,
      reconciled: finished_at === null ? null : { finished_at, events, rows, differing },
    });
  }
  return standings;
};

const standingOf = async (db: QueryExecutorProvider, name: string): Promise<Row> => {
  const { rows } = await sql<Row>`
    with c as (
      select coalesce(max(epoch), 0) as epoch, coalesce(max(xid::text), '0')::xid8 as xid,
        coalesce(max(position), 0) as position, max(moved_at) as moved_at,
        max(owner) filter (where lease_until > clock_timestamp()) as kept_by
      from store.checkpoint where name = ${name}
    ),
    behind as (
      select e.recorded_at from c, store.event e
      where (e.epoch, e.xid, e.position) > (c.epoch, c.xid, c.position)
      order by e.epoch, e.xid, e.position limit ${COUNTED}
    )
    select case when c.position > 0 then format('%s.%s.%s', c.epoch, c.xid, c.position) end as cursor,
      (select count(*) from behind) as behind, c.moved_at, c.kept_by,
      coalesce((select greatest(0, extract(epoch from clock_timestamp() - min(recorded_at)) * 1000) from behind), 0)::float8
        as behind_ms,
      exists (select from store.checkpoint b
        where b.name = ${`${name}__beside`} and b.lease_until > clock_timestamp()) as rebuilding
    from c`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error(`${name}: an aggregate has no row`);
  return row;
};
