import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

/** What the store holds of a measurement. */
export interface Stored {
  /** Lineages that ended completed. */
  readonly completed: number;
  /** Lineages that exist. */
  readonly submitted: number;
  readonly events: number;
}

/** The store as an observer from outside sees it: only what is committed counts. */
export interface StoredTasks {
  /** Everything stored from now on belongs to the measurement. */
  mark(): Promise<void>;
  /** Resolves when so many lineages have completed. @throws when that takes longer than `timeoutMs` */
  completed(tasks: number, timeoutMs: number): Promise<void>;
  /** Resolves when this lineage has completed; looks every ms from shortly before it usually has. */
  completedOne(lineage: string, timeoutMs: number): Promise<void>;
  stored(): Promise<Stored>;
  /** Resolves when every read model has reached the newest event. @throws after `timeoutMs`, default 60 s */
  quiet(timeoutMs?: number): Promise<void>;
  /** What Postgres has written to its log so far, bytes. */
  walBytes(): Promise<number>;
  version(): Promise<string>;
  /**
   * Does what the server owes to what was stored, so that it is not paid while something else is measured: statistics,
   * visibility, dirty pages. Resolves when no autovacuum runs any more. @throws after `timeoutMs`
   */
  settle(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Rare enough to cost nothing beside the work. */
const MANY_EVERY_MS = 50;
const ONE_EVERY_MS = 1;
/** Share of the usual time after which looking begins: whoever looks all the time is in the way of what is measured. */
const FIRST_LOOK = 0.7;

/** @param url of a superuser: the readers' roles see no other service's events. */
export const storedTasks = async (url: string): Promise<StoredTasks> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  // What is behind a mark is little, and found by its index; the planner would rather go over everything that is stored.
  await client.query('set enable_seqscan = off; set enable_bitmapscan = off');
  let from = ['0', '0', '0'];
  let usualMs = 0;
  const ask = async (text: string, values: readonly unknown[]): Promise<Record<string, string>> =>
    (await client.query(text, [...values])).rows[0] ?? {};
  const until = async (isSo: () => Promise<boolean>, everyMs: number, timeoutMs: number): Promise<void> => {
    const end = performance.now() + timeoutMs;
    while (!(await isSo())) {
      if (performance.now() > end) throw new Error(`not completed within ${timeoutMs / 1000} s`);
      await sleep(everyMs);
    }
  };
  const stored = async (): Promise<Stored> => {
    const row = await ask(COUNT, from);
    return { completed: Number(row.completed), submitted: Number(row.submitted), events: Number(row.events) };
  };
  return {
    mark: async () => {
      const { epoch = '0', xid = '0', position = '0' } = await ask(NEWEST, []);
      from = [epoch, xid, position];
    },
    completed: (tasks, timeoutMs) => until(async () => (await stored()).completed >= tasks, MANY_EVERY_MS, timeoutMs),
    completedOne: async (lineage, timeoutMs) => {
      const startedAt = performance.now();
      await sleep(usualMs * FIRST_LOOK);
      await until(async () => (await ask(ONE, [`lineage-${lineage}`])).found === '1', ONE_EVERY_MS, timeoutMs);
      usualMs += (performance.now() - startedAt - usualMs) / 8;
    },
    stored,
    quiet: (timeoutMs = QUIET_MS) =>
      until(async () => (await ask(BEHIND, [])).behind === '0', MANY_EVERY_MS, timeoutMs),
    walBytes: async () => Number((await ask(WAL, [])).bytes),
    version: async () => (await ask('show server_version', [])).server_version ?? '',
    settle: async (timeoutMs) => {
      await client.query('vacuum (analyze)');
      await client.query('checkpoint');
      await until(async () => (await ask(AUTOVACUUMS, [])).running === '0', MANY_EVERY_MS, timeoutMs);
    },
    close: () => client.end(),
  };
};

const QUIET_MS = 60_000;
const BEHIND = `
  select count(*) as behind from store.checkpoint
  where (epoch, xid, position) < (select epoch, xid, position from store.event order by epoch desc, xid desc, position desc limit 1)`;
const WAL = `select pg_current_wal_insert_lsn() - '0/0' as bytes`;
const COUNT = `
  select count(*) as events,
         count(*) filter (where type = 'task_submitted') as submitted,
         count(*) filter (where type = 'task_completed' and data ->> 'outcome' = 'satisfied') as completed
  from store.event where (epoch, xid, position) > ($1::int, $2::xid8, $3::bigint)`;
const AUTOVACUUMS = `select count(*) as running from pg_stat_activity where backend_type = 'autovacuum worker'`;
const NEWEST = `
  select e.epoch::text, e.xid::text, e.position::text from store.event e
  order by e.epoch desc, e.xid desc, e.position desc limit 1`;
const ONE = `select '1' as found from store.event where stream = $1 and type = 'task_completed'`;
