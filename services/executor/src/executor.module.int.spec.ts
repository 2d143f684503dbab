import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { SERVICE_ROLES } from '@fixpoint/event-store/roles';
import { storePool } from '@fixpoint/event-store/store-pool';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { testDatabase } from '@fixpoint/testing/test-database';
import { expect, jest, test } from '@jest/globals';
import { Client } from 'pg';
import { executorModule } from './executor.module.ts';
import { EXECUTOR_MIGRATIONS } from './migrations.ts';

// A real server on a busy machine.
jest.setTimeout(30_000);

const HOUR_MS = 3_600_000;

test('an executor on Postgres removes what its predecessor left on disk and, each hour, what uploads left in the store', async () => {
  const database = await testDatabase({ migrations: [EXECUTOR_MIGRATIONS] });
  const superuser = new Client(database.url);
  await superuser.connect();
  await superuser.query(
    `insert into store.artifact_chunk values (gen_random_uuid(), 0, 'identity', '\\x00', now() - interval '25 hours'),
     (gen_random_uuid(), 0, 'identity', '\\x00', now() - interval '23 hours')`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'executor-'));
  const left = ['runs/run-x/deep', 'commands/command-x', 'workspaces/scratch/s', 'git/apart/a'];
  for (const name of left) mkdirSync(join(folder, name), { recursive: true });
  const connection = { url: database.url, role: SERVICE_ROLES.executor, applicationName: 'test' };
  const [store, pool] = [new PostgresEventStore(connection), storePool(connection, 2)];
  let hours = 0;
  const secondHour = Promise.withResolvers<void>();
  const clock = {
    ...systemClock,
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (ms === HOUR_MS) hours += 1;
      if (ms === HOUR_MS && hours === 1) return;
      if (hours === 2) secondHour.resolve();
      await systemClock.sleep(ms, signal);
    },
  };
  const infrastructure = infrastructureModule({
    ...{ store, pool, artifacts: memoryArtifacts(), clock, ids: systemIds, log: silentLog },
    bus: memoryBus({ clock, report: () => undefined }),
    release: async () => {
      await Promise.all([pool.end(), store.close()]);
    },
  });
  const SANDBOX = { sandbox: 'none' as const, readable: [] };
  const mirrors = { mirrorIdleMs: 24 * 3_600_000, mirrorMaxBytes: 0 };
  const limits = { concurrency: 4, longConcurrency: 1, ...mirrors };
  const config = {
    tokenKeys: { keys: [] },
    folder,
    path: process.env.PATH ?? '',
    playbooks: [],
    ...limits,
    ...SANDBOX,
  };
  const running = await start([executorModule(infrastructure, config)], { http: null, log: silentLog, drainMs: 1000 });
  try {
    expect(left.filter((name) => existsSync(join(folder, name)))).toEqual([]);
    await secondHour.promise;
    const { rows } = await superuser.query('select 1 from store.artifact_chunk');
    expect(rows).toHaveLength(1);
  } finally {
    await running.close();
    await superuser.end();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
