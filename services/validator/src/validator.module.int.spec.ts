import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { SERVICE_ROLES } from '@fixpoint/event-store/roles';
import { storePool } from '@fixpoint/event-store/store-pool';
import { LEASE_RENEWAL_MS } from '@fixpoint/messaging/lease';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { publicationsOf } from '@fixpoint/messaging/publisher';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { testDatabase } from '@fixpoint/testing/test-database';
import { expect, jest, test } from '@jest/globals';
import { VALIDATOR_MIGRATIONS } from './migrations.ts';
import { generateSigningKeys } from './token-keys.ts';
import { nodeReadyOf } from './validator.fixture.ts';
import { validatorModule } from './validator.module.ts';

// Real processes and real git on a busy machine.
jest.setTimeout(30_000);

test('a validator on Postgres ends what its predecessor left running, and answers a run that is ready, from the bus to the store and back', async () => {
  const database = await testDatabase({ migrations: [VALIDATOR_MIGRATIONS] });
  const folder = mkdtempSync(join(tmpdir(), 'validator-'));
  const connection = (role: (typeof SERVICE_ROLES)['validator'] | (typeof SERVICE_ROLES)['orchestrator']) => ({
    url: database.url,
    role,
    applicationName: 'test',
  });
  const [store, orchestrator] = [
    new PostgresEventStore(connection(SERVICE_ROLES.validator)),
    new PostgresEventStore(connection(SERVICE_ROLES.orchestrator)),
  ];
  const pool = storePool(connection(SERVICE_ROLES.validator), 2);
  const bus = memoryBus({ clock: systemClock, report: () => undefined });
  const renewal = Promise.withResolvers<void>();
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => {
      if (ms === LEASE_RENEWAL_MS) renewal.resolve();
      return systemClock.sleep(ms, signal);
    },
  };
  const infrastructure = infrastructureModule({
    ...{ store, bus, pool, artifacts: memoryArtifacts(), clock, ids: systemIds, log: silentLog },
    release: async () => {
      await Promise.all([pool.end(), store.close(), orchestrator.close()]);
    },
  });
  const config = {
    signingKeys: generateSigningKeys('k'),
    folder,
    path: process.env.PATH ?? '',
    concurrency: 4,
    longConcurrency: 1,
    ...{ mirrorIdleMs: 24 * 3_600_000, mirrorMaxBytes: 0 },
    ...{ sandbox: 'none' as const, readable: [] },
  };
  const predecessor = spawnSync('true').pid;
  const left = spawn('sleep', ['600'], { env: { FIXPOINT_COMMAND_OWNER: `${folder}/commands#${predecessor}` } });
  const leftFolders = ['copies/c/deep', 'commands/command-x', 'workspaces/scratch/s'].map((name) => join(folder, name));
  for (const path of leftFolders) mkdirSync(path, { recursive: true, mode: 0o755 });
  const leftEnds = once(left, 'exit');
  const running = await start([validatorModule(infrastructure, config)], { http: null, log: silentLog, drainMs: 1000 });
  try {
    expect(await leftEnds).toEqual([null, 'SIGKILL']);
    await renewal.promise;
    expect(leftFolders.filter((path) => existsSync(path))).toEqual([]);
    const answered = Promise.withResolvers<RecordedEvent>();
    await bus.listen(['governance_passed'], ({ event }) => answered.resolve(event));
    await bus.publish(publicationsOf([await nodeReady(orchestrator)], null));
    const passed = await answered.promise;
    expect(await store.readStream('gate-r-1')).toEqual([passed]);
    expect(await pool.query('select * from validator.lease')).toMatchObject({ rows: [] });
    expect(await running.ready()).toMatchObject({ ready: true });
  } finally {
    left.kill('SIGKILL');
    await running.close();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

const nodeReady = async (store: PostgresEventStore): Promise<RecordedEvent> => {
  const outcome = await store.append({
    stream: 'lineage-r',
    root: 'r',
    expectedVersion: 0,
    events: [
      {
        id: '019b7ca3-9e0e-8000-8000-000000000001',
        type: 'node_ready',
        schema_version: 1,
        data: nodeReadyOf(),
        metadata: { causation_id: 'c', correlation_id: 'r', producer: 'orchestrator__decide', actor: 'ann' },
        occurred_at: '2026-01-02T03:04:05.006Z',
      },
    ],
  });
  if (outcome.outcome !== 'appended' || outcome.events[0] === undefined) throw new Error(JSON.stringify(outcome));
  return outcome.events[0];
};
