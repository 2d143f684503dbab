import type { NewEvent } from '@fixpoint/contracts/envelope';
import { eventId } from '@fixpoint/event-store/event-id';
import { ownerDatabase } from '@fixpoint/event-store/owner-database';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { projectionContract } from '@fixpoint/event-store/projection.contract';
import { rebuildProjection } from '@fixpoint/event-store/rebuild-projection';
import { storePool } from '@fixpoint/event-store/store-pool';
import { allVisible } from '@fixpoint/testing/all-visible';
import { testDatabase } from '@fixpoint/testing/test-database';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Kysely, PostgresDialect } from 'kysely';
import { ORCHESTRATOR_MIGRATIONS } from '../migrations.ts';
import { postgresWaits, type WaitTables, waitRows } from './postgres-waits.ts';

const TIMEOUT_MS = 120_000;

const open = async () => {
  const database = await testDatabase({ migrations: [ORCHESTRATOR_MIGRATIONS] });
  const options = { url: database.url, applicationName: 'fixpoint spec' };
  const store = new PostgresEventStore({ ...options, role: 'fixpoint_embedded' });
  const pool = storePool({ ...options, role: 'fixpoint_orchestrator' }, 5);
  const db = new Kysely<WaitTables>({ dialect: new PostgresDialect({ pool }) });
  const close = async (): Promise<void> => {
    await db.destroy();
    await store.close();
    await database.close();
  };
  return { url: database.url, store, db, close };
};

type Said = readonly [type: string, data: object];

/** Appends to the stream of a lineage, from its first version. */
const say = async (store: PostgresEventStore, root: string, said: readonly Said[], at: string): Promise<void> => {
  const stream = `lineage-${root}`;
  const metadata = { causation_id: 'c', correlation_id: root, producer: 'spec', actor: 'local' };
  const events = said.map(
    ([type, data], index): NewEvent => ({
      id: eventId({ causeId: `${root} ${index}`, causeTime: at, handler: 'spec', stream, index }),
      ...{ type, data, metadata, schema_version: 1, occurred_at: at },
    }),
  );
  const outcome = await store.append({ stream, root, expectedVersion: 0, events });
  expect(outcome.outcome).toBe('appended');
};

/** Whatever moves a row, in an order that no lineage has to have; times in the past and in the future. */
const anything = (root: string): fc.Arbitrary<Said[]> => {
  const task = fc.constantFrom(root, `${root}.f1`, `${root}.f2`);
  const time = fc.constantFrom('2026-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z');
  const provider = fc.constantFrom('git.a.example', 'model.default');
  const data = fc.record({ task, run: fc.integer({ min: 1, max: 2 }), request: fc.constant(1) });
  const of = (type: string, more: fc.Arbitrary<object> = fc.constant({})): fc.Arbitrary<Said> =>
    fc.tuple(data, more).map(([common, rest]) => [type, { ...common, ...rest }] as const);
  return fc.array(
    fc.oneof(
      ...['node_ready', 'node_ready', 'governance_passed', 'action_started', 'post_validated', 'run_refused'].map(
        (type) => of(type),
      ),
      of('node_verified_action', fc.record({ outcome: fc.constantFrom('satisfied', 'unmet') })),
      of('fault_recorded', fc.record({ phase: fc.constantFrom('gate', 'council'), next_at: time })),
      of('task_submitted', fc.record({ deadline_at: time })),
      of('provider_paused', fc.record({ provider, until: fc.option(time) })),
      of('provider_probed', fc.record({ provider, probe: fc.constant({ root, task: root, run: 1 }) })),
      of('subtask_spawned', fc.record({ parent_ref: task })),
      of('human_required', fc.record({ run_open: fc.boolean() })),
      of('recovery_exhausted', fc.record({ ended_tasks: fc.array(task, { maxLength: 2 }) })),
      of('task_completed'),
    ),
    { minLength: 3, maxLength: 25 },
  );
};

/** The lineage whose row is spoiled is there from the start and does not end. */
const happens = async (store: PostgresEventStore, n: number): Promise<void> => {
  if (n === 1) await say(store, 'stays', [['node_ready', { task: 'stays', run: 1 }]], '2026-01-01T00:00:00.000Z');
  for (const root of [`a${n}`, `b${n}`, `c${n}`]) {
    const [said = []] = fc.sample(anything(root), { seed: n, numRuns: 1 });
    await say(store, root, said, '2026-01-01T00:00:00.000Z');
  }
};

projectionContract('what lineages wait for', async () => {
  const opened = await open();
  const spoil = {
    statement: `update orchestrator.waiting set run = 99 where root = 'stays'`,
    ...{ table: 'waiting', row: 'root=stays task=stays' },
  };
  return { ...opened, projection: waitRows, spoil, happens: (n) => happens(opened.store, n) };
});

describe('a rebuild of what lineages wait for', () => {
  test(
    'F2 sends nothing: what was offered is not due again, and a timer that rang does not ring again',
    async () => {
      const { url, store, db, close } = await open();
      const owner = await ownerDatabase<WaitTables>(url, 3);
      try {
        const waits = postgresWaits({ db, store, owner: 'one', pollMs: 10 });
        const past = '2026-01-01T00:00:00.000Z';
        const fault = { task: 'r.f1', run: 1, phase: 'gate', next_at: past };
        const said: readonly Said[] = [
          ['node_ready', { task: 'r', run: 1 }],
          ['node_ready', { task: 'r.f1', run: 1 }],
          ['fault_recorded', fault],
        ];
        await say(store, 'r', said, past);
        await allVisible(store);
        await waits.keep(new AbortController().signal);
        const [row] = await waits.claimWaiting(5);
        const [timer] = await waits.claimTimers(5);
        if (!row || !timer) throw new Error('a row and a timer are due');
        const later = '2099-01-01T00:00:00.000Z';
        await waits.reschedule(row, { reoffers: 3, last_offer: later, next_at: later });
        await waits.fired(timer);

        const { events } = await rebuildProjection({ db: owner, store, projection: waitRows, owner: 'rebuild' });

        expect(events).toBe(3);
        expect(await waits.claimWaiting(5)).toEqual([]);
        expect(await waits.claimTimers(5)).toEqual([]);
        const kept = await db
          .withSchema('orchestrator')
          .selectFrom('waiting')
          .selectAll()
          .where('task', '=', 'r')
          .execute();
        expect(kept).toMatchObject([{ task: 'r', reoffers: 3, last_offer: new Date(later), next_at: new Date(later) }]);
      } finally {
        await owner.destroy();
        await close();
      }
    },
    TIMEOUT_MS,
  );
});
