import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@fixpoint/backing-services/postgres';
import { migrateInstallation } from '@fixpoint/database/migrate-installation';
import type { Append } from '@fixpoint/event-store/event-store';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { EMBEDDED_ROLE } from '@fixpoint/event-store/roles';
import { storePool } from '@fixpoint/event-store/store-pool';
import { appendsOf, median } from './append-load.ts';
import { rawInsert } from './raw-insert.ts';

export interface AppendRecord {
  /** How the rows of one statement are made up. */
  readonly shape: string;
  readonly store_rows_per_second: number;
  readonly raw_rows_per_second: number;
  readonly ratio: number;
}

export interface AppendOptions {
  /** Of the environment; where the servers are. */
  readonly path: string;
  readonly dockerHost: string | null;
  /** Of each measurement. */
  readonly seconds: number;
  readonly rounds: number;
}

/** Connections that write, on either side. */
const LANES = 2;

/** Streams in flight and events a stream; 200 rows are what the store puts into one statement. */
const SHAPES = [
  { shape: '40 streams of 5 events', streams: 40, events: 5 },
  { shape: '200 streams of 1 event', streams: 200, events: 1 },
  { shape: '1 stream of 1 event', streams: 1, events: 1 },
] as const;

/** On a Postgres of its own, empty at the start. */
export const measureAppends = async (options: AppendOptions): Promise<readonly AppendRecord[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'fixpoint-bench-append-'));
  const { dockerHost } = options;
  const own = { temporary: true, url: null, dockerHost, onProgress: () => undefined };
  const postgres = await startPostgres({ ...own, folder: join(folder, 'postgres') });
  try {
    await migrateInstallation(postgres.url);
    const records: AppendRecord[] = [];
    for (const shape of SHAPES) records.push(await measureShape(postgres.url, shape, options));
    return records;
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

type Shape = (typeof SHAPES)[number];

const measureShape = async (
  url: string,
  { shape, streams, events }: Shape,
  { seconds, rounds }: AppendOptions,
): Promise<AppendRecord> => {
  const rates = { store: [] as number[], raw: [] as number[] };
  // The first round warms up and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const raw = await withPool(url, (pool) =>
      rate(seconds, events * streams, () => rawInsert(pool, appendsOf(streams, events))),
    );
    const store = await withStore(url, (opened) =>
      rate(seconds, events * streams, () => appendOrThrow(opened, appendsOf(streams, events))),
    );
    if (round > 0) rates.raw.push(raw);
    if (round > 0) rates.store.push(store);
  }
  const [store, raw] = [median(rates.store), median(rates.raw)];
  return { shape, store_rows_per_second: store, raw_rows_per_second: raw, ratio: store / raw };
};

const appendOrThrow = async (store: PostgresEventStore, appends: readonly Append[]): Promise<void> => {
  const outcomes = await store.appendAll(appends);
  const odd = outcomes.find(({ outcome }) => outcome !== 'appended');
  if (odd !== undefined) throw new Error(`an append ended as ${JSON.stringify(odd)}`);
};

/** Both lanes busy for so long. */
const rate = async (seconds: number, rows: number, write: () => Promise<void>): Promise<number> => {
  const startedAt = performance.now();
  const end = startedAt + seconds * 1000;
  let written = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      await write();
      written += rows;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return written / ((performance.now() - startedAt) / 1000);
};

const withStore = async <T>(url: string, use: (store: PostgresEventStore) => Promise<T>): Promise<T> => {
  const store = new PostgresEventStore({ url, role: EMBEDDED_ROLE, applicationName: 'bench store', lanes: LANES });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
};

const withPool = async <T>(url: string, use: (pool: ReturnType<typeof storePool>) => Promise<T>): Promise<T> => {
  const pool = storePool({ url, role: EMBEDDED_ROLE, applicationName: 'bench raw' }, LANES);
  try {
    return await use(pool);
  } finally {
    await pool.end();
  }
};
