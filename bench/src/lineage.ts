import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '@fixpoint/backing-services/postgres';
import { migrateInstallation } from '@fixpoint/database/migrate-installation';
import { eventId } from '@fixpoint/event-store/event-id';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { readStates } from '@fixpoint/event-store/read-states';
import { roleDatabase } from '@fixpoint/event-store/role-database';
import { EMBEDDED_ROLE } from '@fixpoint/event-store/roles';
import type { Snapshots } from '@fixpoint/event-store/snapshots';
import type { StorePoolOptions } from '@fixpoint/event-store/store-pool';
import { lineage } from '@fixpoint/orchestrator/domain/lineage/decide';
import type { Lineage } from '@fixpoint/orchestrator/domain/lineage/state';
import { foldVersion } from '@fixpoint/orchestrator/snapshots/fold-version';
import { postgresSnapshots } from '@fixpoint/orchestrator/snapshots/postgres-snapshots';

const USAGE = `npm run bench:lineage [-- --events 20000] [--rounds 5] [--json]
Time to read and fold one long lineage, from its start and from its snapshot.`;

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const ROOT = 'long';
const STREAM = `lineage-${ROOT}`;
const AT = '2026-01-01T00:00:00.000Z';
const AT_ONCE = 500;
/** A snapshot is at most as old as the stretch after which the next one is made. */
const BEHIND = 499;

const task = { root: ROOT, task: ROOT, address: '0' };
const protocol = { name: 'default', version: 1, hash: 'a'.repeat(64) };
const node = {
  ...{ id: 'work', kind: 'action', goal: 'It is done', recipe: { command: 'make it' }, postcondition: null },
  ...{ policy: 'required', max_repair_attempts: 0, max_agent_attempts: 0, model: 'default', agent_tools: [] },
  ...{ env: {}, timeout_ms: 60_000 },
};

/** A submission, and then fault after fault: what a lineage that nobody can help looks like. */
const eventAt = (index: number) => {
  if (index === 0) {
    const workspace = { git: null, keep: [] };
    const spec = { name: 'long', project: 'bench', mode: 'build', labels: {}, goal: 'It is done', priority: 0 };
    return {
      type: 'task_submitted',
      data: {
        ...{
          ...task,
          scope: { project: 'bench', mode: 'build' },
          protocol,
          idempotency_key: null,
          spec_hash: 'b'.repeat(64),
        },
        ...{ spec: { ...spec, workspace, nodes: [node] }, deadline_at: '2099-01-01T00:00:00.000Z' },
      },
    };
  }
  const [run, count] = [index, index];
  const detail = 'the executor did not answer within the time that the run and its checks may take';
  const fault = { phase: 'action', class: 'network', count, at_last_evidence: 0, detail, next_at: AT, run_open: false };
  return { type: 'fault_recorded', data: { ...task, run, ...fault, next: null } };
};

const fill = async (store: PostgresEventStore, events: number): Promise<void> => {
  for (let from = 0; from < events; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, events - from) }, (_, each) => {
      const index = from + each;
      const metadata = { causation_id: String(index), correlation_id: ROOT, producer: 'bench', actor: 'local' };
      const id = eventId({ causeId: String(index), causeTime: AT, handler: 'bench', stream: STREAM, index: 0 });
      return { id, ...eventAt(index), schema_version: 1, metadata, occurred_at: AT };
    });
    const outcome = await store.append({ stream: STREAM, root: ROOT, expectedVersion: from, events: some });
    if (outcome.outcome !== 'appended') throw new Error(JSON.stringify(outcome));
  }
};

const timeOf = async (store: PostgresEventStore, snapshots?: Snapshots<Lineage>): Promise<number> => {
  const times: number[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const startedAt = performance.now();
    const read = await readStates({ store, decider: lineage, snapshots }, [STREAM]);
    times.push(performance.now() - startedAt);
    const state = read.get(STREAM);
    if (state === undefined || 'unfoldable' in state) throw new Error('the lineage can not be folded');
    if (state.version !== Number(values.events)) throw new Error(`folded to ${state.version}`);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
};

const saveSnapshot = async (store: PostgresEventStore, snapshots: Snapshots<Lineage>): Promise<void> => {
  const version = Number(values.events) - BEHIND;
  const events = await store.readStream(STREAM, 1, version);
  let state = lineage.initial;
  for (const event of events) state = lineage.evolve(state, event as never);
  await snapshots.save(STREAM, { state, version, eventHash: events.at(-1)?.hash ?? '' });
};

const measureBoth = async (url: string) => {
  await migrateInstallation(url);
  const options: StorePoolOptions = { url, role: EMBEDDED_ROLE, applicationName: 'fixpoint bench' };
  const store = new PostgresEventStore(options);
  const db = roleDatabase(options, 1);
  try {
    await fill(store, Number(values.events));
    const from_start_ms = await timeOf(store);
    const snapshots = postgresSnapshots(db, foldVersion());
    await saveSnapshot(store, snapshots);
    return { events: Number(values.events), from_start_ms, from_snapshot_ms: await timeOf(store, snapshots) };
  } finally {
    await db.destroy();
    await store.close();
  }
};

const main = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'fixpoint-bench-'));
  const dockerHost = process.env.DOCKER_HOST ?? null;
  const postgres = await startPostgres({
    ...{ temporary: true, url: null, dockerHost, folder: join(folder, 'postgres'), onProgress: console.error },
  });
  try {
    const measured = await measureBoth(postgres.url);
    if (values.json) console.log(JSON.stringify(measured));
    else
      console.table([
        {
          events: measured.events,
          'from its start, ms': Number(measured.from_start_ms.toFixed(1)),
          'from its snapshot, ms': Number(measured.from_snapshot_ms.toFixed(1)),
        },
      ]);
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

if (values.help) console.log(USAGE);
else await main();
