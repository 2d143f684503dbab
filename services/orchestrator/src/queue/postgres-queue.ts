import { CURSOR_START, type Cursor } from '@fixpoint/contracts/envelope';
import { type Kysely, sql } from 'kysely';
import { VIABLE } from '../domain/lineage/queue.ts';
import { providerOf, queuedOf, type StoredQueued, type WaitTables, waitRows } from '../waits/postgres-waits.ts';
import type { QueuedRow } from '../waits/wait-rows.ts';
import { IN_FLIGHT, QUEUE_CLAIM_MS } from './in-flight.ts';
import type { Queue, Standing, Turns, Wanted } from './queue.ts';

/** The queue in tables that all replicas share. */
export const postgresQueue = (db: Kysely<WaitTables>): Queue => ({
  standing: () => standing(db),
  startable: (wanted) => startable(db, wanted),
  claim: (rows) => claim(db, rows),
  release: async (rows) => {
    if (rows.length > 0) await postponed(db, rows, 0);
  },
  takeSlot: (row) => takeSlot(db, row),
  freeSlots: async () => {
    await sql`
      delete from orchestrator.slot s where not exists (
        select from orchestrator.queued q where q.root = s.root and q.task = s.task and q.run = s.run
      ) and not exists (
        select from orchestrator.waiting w
        where w.root = s.root and w.task = s.task and w.run = s.run and w.kind = any(${IN_FLIGHT}))`.execute(db);
  },
  providers: async () =>
    (await db.withSchema('orchestrator').selectFrom('provider').selectAll().execute()).map(providerOf),
  turns: () => turns(db),
  served: (projects) => served(db, projects),
});

type Count = { readonly project: string | null; readonly running: number; readonly queued: number };
type Counted = Count & Partial<Cursor> & { readonly length: number; readonly oldest: Date | null };

/** One statement, so that the counts and the place up to which they hold are of one moment. */
const standing = async (db: Kysely<WaitTables>): Promise<Standing> => {
  const { rows } = await sql<Counted>`
    with counted as (
      select project, count(*)::int as running, 0 as queued from orchestrator.waiting
      where kind = any(${IN_FLIGHT}) group by project
      union all
      select project, 0, count(*)::int from orchestrator.queued where queued_for = 'window' group by project),
    place as (select epoch, xid, position from store.checkpoint where name = ${waitRows.name}),
    line as (select count(*)::int as length, min(since) as oldest from orchestrator.queued)
    select place.*, line.*, counted.* from line left join place on true left join counted on true`.execute(db);
  const [first] = rows;
  const { epoch, xid, position } = first ?? {};
  const upTo = epoch === undefined || xid === undefined || position === undefined ? null : { epoch, xid, position };
  return {
    upTo: upTo?.xid ? upTo : CURSOR_START,
    projects: rows.flatMap(({ project, running, queued }) => (project === null ? [] : [{ project, running, queued }])),
    length: first?.length ?? 0,
    oldest: first?.oldest?.toISOString() ?? null,
  };
};

/** Skips from one (class, project) to the next by the index, and looks at the first of each alone. */
const startable = async (db: Kysely<WaitTables>, { each, full, paused }: Wanted): Promise<readonly QueuedRow[]> => {
  const { rows } = await sql<StoredQueued>`
    with recursive place as (
      (select class, project from orchestrator.queued order by class, project limit 1)
      union all
      select next.class, next.project from place cross join lateral (
        select q.class, q.project from orchestrator.queued q
        where (q.class, q.project) > (place.class, place.project) order by q.class, q.project limit 1) next),
    used as materialized (select key, count(*) as slots from orchestrator.slot group by key)
    select first.* from place cross join lateral (
      select q.* from orchestrator.queued q
      where q.class = place.class and q.project = place.project and q.affinity >= ${VIABLE} and q.queued_for <> 'budget'
        and q.next_at <= clock_timestamp() and not q.providers && ${[...paused]}::text[]
        and (q.key is null or coalesce((select slots from used where used.key = q.key), 0) < q.key_limit)
      order by q.affinity desc, q.since, q.root, q.task limit ${each}) first
    where place.project <> all(${[...full]}::text[])`.execute(db);
  return rows.map(queuedOf);
};

const claim = async (db: Kysely<WaitTables>, rows: readonly QueuedRow[]): Promise<readonly QueuedRow[]> => {
  if (rows.length === 0) return [];
  const claimed = await postponed(db, rows, QUEUE_CLAIM_MS);
  return rows.filter(({ root, task, run }) => claimed.has(`${root} ${task} ${run}`));
};

/** Rows in one order, so that two replicas that want the same ones never wait for each other. */
const postponed = async (
  db: Kysely<WaitTables>,
  rows: readonly QueuedRow[],
  ms: number,
): Promise<ReadonlySet<string>> => {
  const found = await sql<Pick<QueuedRow, 'root' | 'task' | 'run'>>`
    with mine as (
      select q.root, q.task from orchestrator.queued q
      join unnest(${rows.map(({ root }) => root)}::text[], ${rows.map(({ task }) => task)}::text[],
                  ${rows.map(({ run }) => run)}::int[]) as wanted (root, task, run) using (root, task, run)
      where ${ms} = 0 or q.next_at <= clock_timestamp()
      order by q.root, q.task for update of q skip locked)
    update orchestrator.queued q set next_at = clock_timestamp() + ${ms} * interval '1 millisecond'
    from mine where q.root = mine.root and q.task = mine.task returning q.root, q.task, q.run`.execute(db);
  return new Set(found.rows.map(({ root, task, run }) => `${root} ${task} ${run}`));
};

/** Numbers of slots are unique under a key, so that no two replicas ever hold the same one. */
const takeSlot = async (db: Kysely<WaitTables>, row: QueuedRow): Promise<boolean> => {
  if (row.key === null) return true;
  const { key, key_limit: limit, root, task, run } = row;
  const { rows } = await sql`
    with held as (select number from orchestrator.slot where root = ${root} and task = ${task} and run = ${run}),
    taken as (
      insert into orchestrator.slot (key, number, root, task, run)
      select ${key}, n, ${root}, ${task}, ${run}::int from generate_series(1, ${limit}::int) n
      where not exists (select from held)
        and (select count(*) from orchestrator.slot where key = ${key}) < ${limit}::int
        and not exists (select from orchestrator.slot s where s.key = ${key} and s.number = n)
      order by n limit 1 on conflict do nothing returning number)
    select number from held union all select number from taken`.execute(db);
  return rows.length > 0;
};

const EVERYBODY = '';

const turns = async (db: Kysely<WaitTables>): Promise<Turns> => {
  const { rows } = await sql<{ project: string; number: number }>`
    select project, number from orchestrator.turn`.execute(db);
  const numbers = new Map(rows.map(({ project, number }) => [project, number]));
  const total = numbers.get(EVERYBODY) ?? 0;
  numbers.delete(EVERYBODY);
  return { projects: numbers, total };
};

const served = async (db: Kysely<WaitTables>, projects: readonly string[]): Promise<void> => {
  if (projects.length === 0) return;
  await sql`
    with before as (
      insert into orchestrator.turn (project, number) values (${EVERYBODY}, ${projects.length})
      on conflict (project) do update set number = turn.number + excluded.number
      returning number - ${projects.length}::int as number),
    latest as (
      select project, max(place)::int as place from unnest(${[...projects]}::text[]) with ordinality as s (project, place)
      group by project)
    insert into orchestrator.turn (project, number)
    select project, before.number + place from latest, before order by project
    on conflict (project) do update set number = greatest(turn.number, excluded.number)`.execute(db);
};
