import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { type Projection, ProjectionRunner, type ProjectionTarget } from '@fixpoint/event-store/projection';
import { type Kysely, sql, type Transaction } from 'kysely';
import { type ProviderRow, providerRow } from '../providers/provider-row.ts';
import { type LineageWaits, NO_WAITS, type QueuedRow, type TimerRow, type Waiting } from './wait-rows.ts';
import { CLAIM_MS, type Waits } from './waits.ts';
import { waitsAfter } from './waits-after.ts';

type Stored<Row, Times extends keyof Row> = Omit<Row, Times> & {
  readonly [Time in Times]: Date | (null extends Row[Time] ? null : never);
};
type WaitingRow = Stored<Waiting, 'since' | 'last_offer' | 'next_at'>;
type StoredTimer = Stored<TimerRow, 'due_at' | 'next_at'>;
export type StoredQueued = Stored<Omit<QueuedRow, 'providers'>, 'since' | 'next_at'> & { readonly providers: string[] };

type StoredProvider = Stored<Omit<ProviderRow, 'probe'>, 'since' | 'paused_until'> & {
  readonly probe_root: string | null;
  readonly probe_task: string | null;
  readonly probe_run: number | null;
};

/** The orchestrator's own tables. */
export interface WaitTables {
  waiting: WaitingRow;
  timer: StoredTimer;
  queued: StoredQueued;
  provider: StoredProvider;
}

const SCHEMA = 'orchestrator';
/** A page holds the whole life of most lineages: what began and ended within it is never written. */
const PAGE = 1_000;
/** The soonest that anything here is due is seconds away. */
const GATHER_MS = 150;

export interface PostgresWaitsOptions {
  readonly db: Kysely<WaitTables>;
  readonly store: Pick<EventStore, 'readAll' | 'changed'>;
  /** Names this process. */
  readonly owner: string;
  readonly pollMs?: number;
}

/** The rows as tables that all replicas share; one of them follows the log, all of them claim. */
export const postgresWaits = ({ db, store, owner, pollMs = 200 }: PostgresWaitsOptions): Waits => {
  const runner = new ProjectionRunner<WaitTables>({
    db,
    store,
    owner,
    pollMs,
    pageSize: PAGE,
    gatherMs: GATHER_MS,
    projection: waitRows,
  });
  const tables = db.withSchema(SCHEMA);
  return {
    keep: async (signal) => {
      try {
        await runner.step(signal);
      } finally {
        // Another replica takes over at once, instead of waiting for the lease to run out.
        if (signal.aborted) await runner.release();
      }
    },
    claimWaiting: (limit) => claimWaiting(db, limit),
    claimTimers: (limit) => claimTimers(db, limit),
    reschedule: async (row, { reoffers, last_offer, next_at }) => {
      await tables
        .updateTable('waiting')
        .set({ reoffers, last_offer: new Date(last_offer), next_at: next_at === null ? null : new Date(next_at) })
        .where('root', '=', row.root)
        .where('task', '=', row.task)
        .where('kind', '=', row.kind)
        .where('run', '=', row.run)
        .where('since', '=', new Date(row.since))
        .execute();
    },
    fired: async ({ id }) => {
      await tables.deleteFrom('timer').where('id', '=', id).execute();
    },
  };
};

/** One statement, so one transaction of its own: two replicas never get the same row. */
const claimWaiting = async (db: Kysely<WaitTables>, limit: number): Promise<readonly Waiting[]> => {
  const { rows } = await sql<WaitingRow>`
    update orchestrator.waiting w set next_at = clock_timestamp() + ${CLAIM_MS} * interval '1 millisecond'
    from (select root, task from orchestrator.waiting where next_at <= clock_timestamp()
          order by next_at limit ${limit} for update skip locked) due
    where w.root = due.root and w.task = due.task returning w.*`.execute(db);
  return rows.map(waitingOf);
};

const claimTimers = async (db: Kysely<WaitTables>, limit: number): Promise<readonly TimerRow[]> => {
  const { rows } = await sql<StoredTimer>`
    update orchestrator.timer t set next_at = clock_timestamp() + ${CLAIM_MS} * interval '1 millisecond'
    from (select id from orchestrator.timer where next_at <= clock_timestamp()
          order by next_at limit ${limit} for update skip locked) due
    where t.id = due.id returning t.*`.execute(db);
  return rows.map(timerOf);
};

const waitingOf = (row: WaitingRow): Waiting => ({
  ...row,
  since: row.since.toISOString(),
  last_offer: row.last_offer.toISOString(),
  next_at: row.next_at?.toISOString() ?? null,
});

const timerOf = (row: StoredTimer): TimerRow => ({
  ...row,
  due_at: row.due_at.toISOString(),
  next_at: row.next_at.toISOString(),
});

export const queuedOf = (row: StoredQueued): QueuedRow => ({
  ...row,
  since: row.since.toISOString(),
  next_at: row.next_at.toISOString(),
});

/** Folds a page in memory over the rows that its lineages had, and writes only what is different afterwards. */
const apply = async (
  { transaction }: ProjectionTarget<WaitTables>,
  events: readonly RecordedEvent[],
): Promise<void> => {
  const roots = [...new Set(events.map(({ root }) => root))];
  const before = await load(transaction, roots);
  const after = new Map(before);
  for (const event of events) after.set(event.root, waitsAfter(after.get(event.root) ?? NO_WAITS, event));
  const changed = roots.filter((root) => after.get(root) !== before.get(root));
  await remove(
    transaction,
    changed.filter((root) => before.has(root)),
  );
  await insert(
    transaction,
    changed.flatMap((root) => after.get(root) ?? []),
  );
  await putProviders(transaction, events);
};

/** Each event says all there is to say, so the last one of a provider is its row. */
const putProviders = async (transaction: Transaction<WaitTables>, events: readonly RecordedEvent[]): Promise<void> => {
  const rows = new Map(events.flatMap((event) => providerRow(event) ?? []).map((row) => [row.provider, row]));
  if (rows.size === 0) return;
  await transaction
    .deleteFrom('provider')
    .where('provider', 'in', [...rows.keys()])
    .execute();
  await transaction
    .insertInto('provider')
    .values([...rows.values()].map(storedProvider))
    .execute();
};

/** What lineages wait for, their timers, their queued runs, and the providers that those may wait for. The healer moves its own columns, and whoever rang a timer removes it. */
export const waitRows: Projection<WaitTables> = {
  name: 'orchestrator__waits',
  schema: SCHEMA,
  tables: [
    { name: 'waiting', key: ['root', 'task'], kept: ['last_offer', 'reoffers', 'next_at'] },
    { name: 'timer', key: ['id'], kept: ['next_at'], removableAfter: 'due_at' },
    { name: 'queued', key: ['root', 'task'], kept: ['next_at'] },
    { name: 'provider', key: ['provider'] },
  ],
  apply,
};

/** One parameter, not one a root: a long list costs Postgres more than the rows. */
const isOneOf = (roots: readonly string[]) => sql<boolean>`root = any(${roots})`;

const load = async (
  transaction: Transaction<WaitTables>,
  roots: readonly string[],
): Promise<ReadonlyMap<string, LineageWaits>> => {
  const waiting = await transaction.selectFrom('waiting').selectAll().where(isOneOf(roots)).execute();
  const timers = await transaction.selectFrom('timer').selectAll().where(isOneOf(roots)).execute();
  const queued = await transaction.selectFrom('queued').selectAll().where(isOneOf(roots)).execute();
  const found = new Map<string, LineageWaits>();
  for (const row of waiting.map(waitingOf)) {
    const waits = found.get(row.root) ?? NO_WAITS;
    found.set(row.root, { ...waits, waiting: { ...waits.waiting, [row.task]: row } });
  }
  for (const row of timers.map(timerOf)) {
    const waits = found.get(row.root) ?? NO_WAITS;
    found.set(row.root, { ...waits, timers: { ...waits.timers, [row.id]: row } });
  }
  for (const row of queued.map(queuedOf)) {
    const waits = found.get(row.root) ?? NO_WAITS;
    found.set(row.root, { ...waits, queued: { ...waits.queued, [row.task]: row } });
  }
  return found;
};

const remove = async (transaction: Transaction<WaitTables>, roots: readonly string[]): Promise<void> => {
  if (roots.length === 0) return;
  await transaction.deleteFrom('waiting').where(isOneOf(roots)).execute();
  await transaction.deleteFrom('timer').where(isOneOf(roots)).execute();
  await transaction.deleteFrom('queued').where(isOneOf(roots)).execute();
};

const insert = async (transaction: Transaction<WaitTables>, lineages: readonly LineageWaits[]): Promise<void> => {
  const waiting = lineages.flatMap(({ waiting: rows }) => Object.values(rows)).map(storedWaiting);
  const timers = lineages.flatMap(({ timers: rows }) => Object.values(rows)).map(storedTimer);
  if (waiting.length > 0) await transaction.insertInto('waiting').values(waiting).execute();
  if (timers.length > 0) await transaction.insertInto('timer').values(timers).execute();
  const queued = lineages.flatMap(({ queued: rows }) => Object.values(rows)).map(storedQueued);
  if (queued.length > 0) await transaction.insertInto('queued').values(queued).execute();
};

const storedWaiting = (row: Waiting): WaitingRow => ({
  ...row,
  since: new Date(row.since),
  last_offer: new Date(row.last_offer),
  next_at: row.next_at === null ? null : new Date(row.next_at),
});

const storedQueued = (row: QueuedRow): StoredQueued => ({
  ...row,
  providers: [...row.providers],
  since: new Date(row.since),
  next_at: new Date(row.next_at),
});

const storedProvider = ({ probe, ...row }: ProviderRow): StoredProvider => ({
  ...row,
  paused_until: row.paused_until === null ? null : new Date(row.paused_until),
  since: new Date(row.since),
  probe_root: probe?.root ?? null,
  probe_task: probe?.task ?? null,
  probe_run: probe?.run ?? null,
});

export const providerOf = ({
  probe_root: root,
  probe_task: task,
  probe_run: run,
  ...row
}: StoredProvider): ProviderRow => ({
  ...row,
  paused_until: row.paused_until?.toISOString() ?? null,
  since: row.since.toISOString(),
  probe: root === null || task === null || run === null ? null : { root, task, run },
});

const storedTimer = (row: TimerRow): StoredTimer => ({
  ...row,
  due_at: new Date(row.due_at),
  next_at: new Date(row.next_at),
});
