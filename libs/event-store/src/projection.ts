import { setTimeout as sleep } from 'node:timers/promises';
import { CURSOR_START, type Cursor, type RecordedEvent } from '@fixpoint/contracts/envelope';
import { type Kysely, type QueryExecutorProvider, sql, type Transaction } from 'kysely';
import { claimCheckpoint, type HeldCheckpoint, moveCheckpoint, releaseCheckpoint } from './checkpoint.ts';
import type { EventStore } from './event-store.ts';

/** A table of a projection. What a row says follows from the log, except where it is said otherwise here. */
export interface ProjectedTable {
  readonly name: string;
  /** Columns that name a row. */
  readonly key: readonly string[];
  /**
   * Columns that others keep up to date between events. They are never compared, and a rebuild takes them over from the
   * row that it replaces.
   */
  readonly kept?: readonly string[];
  /** A time (timestamptz) after which others may remove the row. */
  readonly removableAfter?: string;
  /** SQL condition for rows that no event makes; a rebuild takes them over. */
  readonly given?: string;
}

/** Where events are applied to: the live tables, or tables of the same shape beside them. */
export interface ProjectionTarget<Tables> {
  /** Looks into `schema`. */
  readonly transaction: Transaction<Tables>;
  /** For statements that name their tables themselves. */
  readonly schema: string;
}

/** A read model: tables in a schema of its own that say what the log says. It never decides and never sends. */
export interface Projection<Tables> {
  /** `<service>__<reader>`: key of its checkpoint. Another name is another projection, built from the start. */
  readonly name: string;
  /** Where its live tables are. */
  readonly schema: string;
  /** Every table that it writes. */
  readonly tables: readonly ProjectedTable[];
  /**
   * Writes what the events mean to the target and nowhere else: the same function fills the live tables, rebuilds them
   * beside and checks them. Events come in cursor order, each once; types it does not know are ignored. Throwing stops the
   * projection at that event.
   */
  apply(target: ProjectionTarget<Tables>, events: readonly RecordedEvent[]): Promise<void>;
  /**
   * Does early what `apply` would do with these events anyway and keeps it where `apply` finds it, such as parsing them.
   * Called while the database is busy with the page before; may never be called.
   */
  prepare?(events: readonly RecordedEvent[]): void;
}

export interface ProjectionRunnerOptions<Tables> {
  readonly db: Kysely<Tables>;
  readonly store: Pick<EventStore, 'readAll' | 'changed'>;
  readonly projection: Projection<Tables>;
  /** Names this process; two processes of one name would take the projection from each other. */
  readonly owner: string;
  /** Events per transaction; default 500. */
  readonly pageSize?: number;
  /** How long another process waits for one that went silent; default 10,000 ms, by the database's clock. */
  readonly leaseMs?: number;
  /** Longest wait for news; default 200 ms. */
  readonly pollMs?: number;
  /** How long news are gathered before they are read, so that pages become bigger instead of more; default 0 ms. */
  readonly gatherMs?: number;
}

interface Lease extends HeldCheckpoint {
  /** By this process' monotonic clock. */
  readonly takenAt: number;
}

/** Ends early, and without an error, when the signal aborts. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });

/** How far a projection is; the start of the log when it has none yet. */
export const checkpointOf = async (db: QueryExecutorProvider, name: string): Promise<Cursor> => {
  const { rows } = await sql<Cursor>`select epoch, xid, position from store.checkpoint where name = ${name}`.execute(
    db,
  );
  return rows[0] ?? CURSOR_START;
};

/**
 * Keeps one projection up to date. Several processes may run it: the one with the lease works, the others stand by.
 * Tables and checkpoint move in one transaction that holds the checkpoint row and checks the fence, so a process that
 * lost its lease without noticing cannot write.
 */
export class ProjectionRunner<Tables> {
  private readonly options: ProjectionRunnerOptions<Tables>;
  private readonly leaseMs: number;
  private readonly pollMs: number;
  private readonly pageSize: number;
  private lease: Lease | null = null;
  /** Events still to be taken one by one, because a page with them failed. */
  private careful = 0;
  private isUpToDate = false;

  constructor(options: ProjectionRunnerOptions<Tables>) {
    this.options = options;
    this.leaseMs = options.leaseMs ?? 10_000;
    this.pollMs = options.pollMs ?? 200;
    this.pageSize = options.pageSize ?? 500;
  }

  /**
   * Applies one page, or waits for news when there is none (or another process has the lease). For a loop.
   * @throws when the database fails, or an event does: its message names the event. The next step tries again.
   */
  async step(signal: AbortSignal): Promise<void> {
    const gatherMs = this.options.gatherMs ?? 0;
    if (this.isUpToDate && gatherMs > 0) await pause(gatherMs, signal);
    const dealtWith = await this.advance();
    this.isUpToDate = dealtWith < this.pageSize;
    if (dealtWith === 0) await this.options.store.changed(this.pollMs, signal);
  }

  /**
   * Applies pages until none is left below the watermark.
   * @returns where the projection stands, or null when another process has the lease.
   */
  async catchUp(): Promise<Cursor | null> {
    while ((await this.advance()) > 0);
    return this.lease?.cursor ?? null;
  }

  /** Lets another process take over at once. */
  async release(): Promise<void> {
    const { lease } = this;
    this.lease = null;
    if (lease === null) return;
    await releaseCheckpoint(this.options.db, this.options.projection.name, lease.fence);
  }

  /** @returns the number of events it dealt with. */
  private async advance(): Promise<number> {
    this.lease ??= await this.claim();
    const { lease } = this;
    if (lease === null) return 0;
    const page = await this.options.store.readAll(lease.cursor, this.careful > 0 ? 1 : this.pageSize);
    if (page.events.length === 0) {
      // Renewed in good time, or others would take an idle projection for a dead one.
      if (performance.now() - lease.takenAt > this.leaseMs / 3) this.lease = await this.claim();
      return 0;
    }
    await this.applyPage(lease, page.events, page.next);
    return page.events.length;
  }

  private async claim(): Promise<Lease | null> {
    const { db, owner, projection } = this.options;
    const takenAt = performance.now();
    const held = await claimCheckpoint(db, { name: projection.name, owner, leaseMs: this.leaseMs });
    return held === null ? null : { ...held, takenAt };
  }

  private async applyPage(lease: Lease, events: readonly RecordedEvent[], next: Cursor): Promise<void> {
    // Whether a failed commit happened is not known: the lease is claimed anew, and with it the checkpoint read.
    this.lease = null;
    const takenAt = performance.now();
    try {
      if (!(await this.write(lease, events, next))) return;
    } catch (error) {
      if (events.length > 1) this.careful = events.length;
      if (events.length > 1) return;
      const [event] = events;
      const { name } = this.options.projection;
      throw new Error(`projection ${name} stopped at event ${event?.id} (${event?.type})`, { cause: error });
    }
    this.careful = Math.max(0, this.careful - events.length);
    this.lease = { fence: lease.fence, cursor: next, takenAt };
  }

  /** @returns false when another process has taken the lease; then nothing was written. */
  private write(lease: Lease, events: readonly RecordedEvent[], next: Cursor): Promise<boolean> {
    const { db, projection } = this.options;
    return db.transaction().execute(async (transaction) => {
      const held = { name: projection.name, fence: lease.fence, leaseMs: this.leaseMs };
      if (!(await moveCheckpoint(transaction, held, next))) return false;
      const { schema } = projection;
      await projection.apply({ transaction: transaction.withSchema(schema), schema }, events);
      return true;
    });
  }
}
