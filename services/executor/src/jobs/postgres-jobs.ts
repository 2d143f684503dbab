import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import { type JobRequest, type JobState, jobRequestSchema } from '@fixpoint/contracts/rest/jobs';
import type { Pool, QueryResultRow } from 'pg';
import {
  type JobClaim,
  type JobRefusal,
  type JobStanding,
  type Jobs,
  MOST_PARTS,
  type NewJob,
  OWNED_MS,
  type Settlement,
  type TakenJob,
  type Taking,
} from './jobs.ts';

const NOW = 'clock_timestamp()';
const FROM_NOW = (ms: string): string => `${NOW} + ${ms} * interval '1 millisecond'`;
const IS_THEIRS = "id = $1 and epoch = $2 and holder = $3 and status = 'leased'";

/** Jobs in the executor's own table, by the database's clock; texts are JSON that SQL never looks into. */
export const postgresJobs = (pool: Pool): Jobs => new PostgresJobs(pool);

class PostgresJobs implements Jobs {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async offer({ id, workKey, queue, stream, owner, request, workspace, timeMs }: NewJob): Promise<string | null> {
    const { root, task, run } = request;
    const [row] = await this.#rows<{ id: string }>(
      `insert into executor.job as j
         (id, work_key, queue, stream, owner, root, task, run, request, workspace, owned_until, deadline)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${FROM_NOW('$11')}, ${FROM_NOW('$12')})
       on conflict (work_key) where status <> 'closed' do update
         set stream = excluded.stream, owner = excluded.owner, run = excluded.run, request = excluded.request,
             owned_until = excluded.owned_until, deadline = excluded.deadline
         where j.owned_until <= ${NOW}
       returning id`,
      [id, workKey, queue, stream, owner, root, task, run, canonicalJson(request), workspace, OWNED_MS, timeMs],
    );
    return row?.id ?? null;
  }

  async take(queue: string, { holder, worker, leaseMs }: Taking): Promise<TakenJob | null> {
    const [row] = await this.#rows<TakenRow>(
      `update executor.job set status = 'leased', epoch = epoch + 1, holder = $2, worker = $3, lease_ms = $4::integer,
         expires_at = ${FROM_NOW('$4::integer')}
       where id = (select id from executor.job where queue = $1 and status = 'offered' and owned_until > ${NOW}
                   order by offered_at, id limit 1 for update skip locked)
       returning id, epoch, request, workspace,
         greatest(0, extract(epoch from deadline - ${NOW}) * 1000)::float8 as time_ms`,
      [queue, holder, worker, leaseMs],
    );
    if (row === undefined) return null;
    const { id: job, epoch, request, workspace, time_ms: timeMs } = row;
    return { job, epoch, queue, request: requestFrom(request), workspace, timeMs: Math.floor(timeMs) };
  }

  async heartbeat(claim: JobClaim, progress: string | null): Promise<JobRefusal | { readonly leaseMs: number }> {
    const row = await this.#claimed<{ lease_ms: number }>(
      claim,
      `update executor.job set expires_at = ${FROM_NOW('lease_ms')}, progress = coalesce($4, progress)
       where ${IS_THEIRS} returning lease_ms`,
      [storable(progress)],
    );
    return typeof row === 'string' ? row : { leaseMs: row.lease_ms };
  }

  async workspace(claim: JobClaim): Promise<JobRefusal | { readonly artifact: string | null }> {
    const row = await this.#claimed<{ workspace: string | null }>(
      claim,
      `select workspace from executor.job where ${IS_THEIRS}`,
    );
    return typeof row === 'string' ? row : { artifact: row.workspace };
  }

  async addPart(claim: JobClaim, artifact: string): Promise<JobRefusal | null> {
    const row = await this.#claimed<{ is_full: boolean }>(
      claim,
      `update executor.job set parts = case when cardinality(parts) < ${MOST_PARTS} then parts || $4::text else parts end
       where ${IS_THEIRS} returning parts[cardinality(parts)] is distinct from $4 as is_full`,
      [artifact],
    );
    if (typeof row === 'string') return row;
    return row.is_full ? 'too_many_parts' : null;
  }

  async settle(claim: JobClaim, settlement: Settlement, parts: readonly string[]): Promise<JobRefusal | null> {
    const text = canonicalJson(settlement);
    const row = await this.#claimed(
      claim,
      `update executor.job set status = 'settled', settlement = $4, parts = parts || $5::text[]
       where ${IS_THEIRS} returning id`,
      [text, parts],
    );
    if (row !== 'settled') return typeof row === 'string' ? row : null;
    const select = 'select settlement from executor.job where id = $1';
    const [before] = await this.#rows<{ settlement: string | null }>(select, [claim.job]);
    return before?.settlement === text ? null : 'settled';
  }

  async release(claim: JobClaim): Promise<JobRefusal | null> {
    const row = await this.#claimed(
      claim,
      `update executor.job set status = 'offered', holder = null, worker = null, expires_at = null, parts = '{}',
         progress = null where ${IS_THEIRS} returning id`,
    );
    return typeof row === 'string' ? row : null;
  }

  async keep(job: string): Promise<void> {
    await this.#rows(`update executor.job set owned_until = ${FROM_NOW('$2')} where id = $1`, [job, OWNED_MS]);
  }

  async standing(job: string): Promise<JobStanding> {
    const [row] = await this.#rows<StandingRow>(
      `select status, worker, epoch, parts, settlement, expires_at <= ${NOW} as is_lost
       from executor.job where id = $1`,
      [job],
    );
    return row === undefined ? { status: 'closed' } : standingFrom(row);
  }

  async leave(job: string): Promise<void> {
    await this.#rows(`update executor.job set owned_until = ${NOW} where id = $1`, [job]);
  }

  async close(job: string, because: string): Promise<void> {
    await this.#rows(
      `update executor.job set status = 'closed', closed_because = $2, closed_at = ${NOW}
       where id = $1 and status <> 'closed'`,
      [job, because],
    );
  }

  async sweep(olderThanMs: number): Promise<void> {
    await this.#rows(
      `delete from executor.job where coalesce(closed_at, owned_until) < ${NOW} - $1 * interval '1 millisecond'`,
      [olderThanMs],
    );
  }

  async list(limit: number): Promise<readonly JobState[]> {
    const found = await this.#rows<ListedRow>(
      `select id, queue, root, task, run, status, epoch, worker, progress, offered_at from executor.job
       where status <> 'closed' order by offered_at, id limit $1`,
      [limit],
    );
    return found.map(({ id: job, offered_at, ...row }) => ({ job, ...row, offered_at: offered_at.toISOString() }));
  }

  async #rows<Row extends QueryResultRow>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return (await this.#pool.query<Row>(text, [...values])).rows;
  }

  /** One change under a claim, or why nothing was found to change. */
  async #claimed<Row extends QueryResultRow>(
    { job, epoch, holder }: JobClaim,
    change: string,
    values: readonly unknown[] = [],
  ): Promise<Row | JobRefusal> {
    const [row] = await this.#rows<Row>(change, [job, epoch, holder, ...values]);
    if (row !== undefined) return row;
    const [found] = await this.#rows<{ status: string; is_theirs: boolean | null }>(
      'select status, epoch = $2 and holder = $3 as is_theirs from executor.job where id = $1',
      [job, epoch, holder],
    );
    if (found === undefined) return 'unknown';
    if (found.status === 'closed') return 'over';
    return found.is_theirs === true ? 'settled' : 'not_yours';
  }
}

interface TakenRow {
  readonly id: string;
  readonly epoch: number;
  readonly request: string;
  readonly workspace: string | null;
  readonly time_ms: number;
}

interface StandingRow {
  readonly status: JobStanding['status'];
  readonly worker: string | null;
  readonly epoch: number;
  readonly parts: readonly string[];
  readonly settlement: string | null;
  readonly is_lost: boolean | null;
}

interface ListedRow {
  readonly id: string;
  readonly queue: string;
  readonly root: string;
  readonly task: string;
  readonly run: number;
  readonly status: 'offered' | 'leased' | 'settled';
  readonly epoch: number;
  readonly worker: string | null;
  readonly progress: string | null;
  readonly offered_at: Date;
}

/** Postgres takes no U+0000, and no lone surrogate. */
const storable = (text: string | null): string | null => text?.replaceAll('\0', '\u2400').toWellFormed() ?? null;

const requestFrom = (text: string): JobRequest => jobRequestSchema.parse(JSON.parse(text));

const standingFrom = ({ status, worker, epoch, parts, settlement, is_lost }: StandingRow): JobStanding => {
  if (status === 'leased') return { status, worker: worker ?? '', isLost: is_lost === true };
  if (status === 'settled' && settlement !== null) {
    return { status, worker: worker ?? '', epoch, parts, settlement: JSON.parse(settlement) as Settlement };
  }
  return { status: status === 'offered' ? 'offered' : 'closed' };
};
