import type { Client } from '@fixpoint/client/client';
import { cpuTime, sum, treeCpuTime } from './cpu-time.ts';
import type { MeasuredInstallation } from './measured-installation.ts';
import type { StoredTasks } from './stored-tasks.ts';

export interface Measurement {
  readonly tasks: number;
  readonly tasks_per_second: number;
  /** From sending one task until its end is committed, with nothing else to do. */
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly one_by_one: number;
  readonly events_per_task: number;
  /** Processor time of the five services (embedded: of the whole process), ms a task; null where it is not known. */
  readonly cpu_ms_per_task: number | null;
  /** The same of Postgres and of NATS, with all their processes. */
  readonly postgres_cpu_ms_per_task: number | null;
  readonly nats_cpu_ms_per_task: number | null;
  /** What Postgres wrote to its log, bytes a task, projections and leases included. */
  readonly wal_bytes_per_task: number;
}

export interface MeasureOptions {
  readonly tasks: number;
  readonly oneByOne: number;
}

const TIMEOUT_MS = 180_000;
/** Tasks before the clock starts: code is compiled, connections are open, plans are made. */
export const WARM_UP = 1_000;
/** The same before single tasks are timed, which take other ways through the code. */
const WARM_UP_ONE_BY_ONE = 100;
/** Longest batch that the API takes. */
const BATCH = 1_000;

/** One node that counts in the memory of the run: all that it costs is what Fixpoint itself costs. */
const DOCUMENT = {
  kind: 'task/v1',
  name: 'count',
  goal: 'The counter is at 3',
  recipe: { primitive: 'counter', with: { to: 3 } },
  postcondition: { primitive: 'counter-at', with: { value: 3 } },
} as const;

/** Measures an installation that does nothing else. @throws when a task does not complete */
export const measure = async (
  installation: Pick<MeasuredInstallation, 'client' | 'pids' | 'servers'>,
  store: StoredTasks,
  { tasks, oneByOne }: MeasureOptions,
): Promise<Measurement> => {
  const { client } = installation;
  await store.mark();
  await submitMany(client, WARM_UP);
  await store.completed(WARM_UP, TIMEOUT_MS);
  await store.quiet();

  await store.mark();
  const before = await usage(installation, store);
  const startedAt = performance.now();
  await submitMany(client, tasks);
  await store.completed(tasks, TIMEOUT_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  const { events } = await verified(store, tasks);
  // What follows the end of a task is part of its cost: read models and wake-up calls catch up.
  await store.quiet();
  const used = difference(before, await usage(installation, store));

  await store.mark();
  for (let n = 0; n < WARM_UP_ONE_BY_ONE; n += 1) await completeOne(client, store);
  const latencies: number[] = [];
  for (let n = 0; n < oneByOne; n += 1) latencies.push(await latencyOfOne(client, store));
  await verified(store, WARM_UP_ONE_BY_ONE + oneByOne);

  return {
    tasks,
    tasks_per_second: tasks / seconds,
    p50_ms: quantile(latencies, 0.5),
    p95_ms: quantile(latencies, 0.95),
    one_by_one: oneByOne,
    events_per_task: events / tasks,
    cpu_ms_per_task: each(used.services, tasks),
    postgres_cpu_ms_per_task: each(used.postgres, tasks),
    nats_cpu_ms_per_task: each(used.nats, tasks),
    wal_bytes_per_task: used.wal / tasks,
  };
};

interface Usage {
  /** Processor time so far, ms. */
  readonly services: number | null;
  readonly postgres: number | null;
  readonly nats: number | null;
  /** Bytes. */
  readonly wal: number;
}

const usage = async (
  { pids, servers }: Pick<MeasuredInstallation, 'pids' | 'servers'>,
  store: StoredTasks,
): Promise<Usage> => {
  const of = (pid: number | null) => (pid === null ? null : treeCpuTime(pid));
  const [services, postgres, nats] = await Promise.all([cpuTime(pids()), of(servers.postgres), of(servers.nats)]);
  return { services, postgres, nats, wal: await store.walBytes() };
};

const difference = (before: Usage, after: Usage): Usage => {
  const minus = (a: number | null, b: number | null) => sum([a, b === null ? null : -b]);
  return {
    services: minus(after.services, before.services),
    postgres: minus(after.postgres, before.postgres),
    nats: minus(after.nats, before.nats),
    wal: after.wal - before.wal,
  };
};

const each = (total: number | null, tasks: number): number | null => (total === null ? null : total / tasks);

const submitMany = async (client: Client, tasks: number): Promise<void> => {
  for (let left = tasks; left > 0; left -= BATCH) {
    const batch = Array.from({ length: Math.min(left, BATCH) }, () => ({ document: DOCUMENT }));
    const { results } = await client.submitBatch(batch);
    const refused = results.find((result) => result.outcome === 'refused');
    if (refused !== undefined) throw new Error(`a task was refused: ${refused.code}: ${refused.detail}`);
  }
};

/** Submits one task and waits for its end. @returns its lineage */
export const completeOne = async (client: Client, store: Pick<StoredTasks, 'completedOne'>): Promise<string> => {
  const { lineage } = await client.submit({ document: DOCUMENT });
  await store.completedOne(lineage, TIMEOUT_MS);
  return lineage;
};

const latencyOfOne = async (client: Client, store: StoredTasks): Promise<number> => {
  const startedAt = performance.now();
  await completeOne(client, store);
  return performance.now() - startedAt;
};

/** Every task that was submitted ended completed, and nothing else happened. */
const verified = async (store: StoredTasks, tasks: number) => {
  const stored = await store.stored();
  if (stored.submitted === tasks && stored.completed === tasks) return stored;
  throw new Error(`${tasks} tasks were sent, ${stored.submitted} are stored, ${stored.completed} completed`);
};

const quantile = (values: readonly number[], q: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
};
