import { taskStatusSchema } from '@fixpoint/contracts/rest/audit';
import { Changes } from '@fixpoint/event-store/changes';
import { silentLog } from '@fixpoint/runtime/log';
import type { Metrics } from '@fixpoint/runtime/telemetry/metrics';
import { eventually } from '@fixpoint/testing/eventually';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AuditDatabase, auditDatabase } from '../projections/audit-database.fixture.ts';
import { repaired, telling } from '../projections/history.fixture.ts';
import { deadLettered, deadLetterReplayed } from '../projections/letter-history.fixture.ts';
import { keepReadModel } from '../projections/read-model-loop.ts';
import { append } from '../projections/store-history.fixture.ts';
import { readModelObserver } from './read-model-observer.ts';

let audit: AuditDatabase;
beforeAll(async () => {
  audit = await auditDatabase();
});
afterAll(() => audit.close());

/** Keeps what it is told. */
const listening = () => {
  const recorded = new Map<string, { readonly value: number; readonly attributes: unknown }[]>();
  const gauges = new Map<string, () => Promise<readonly unknown[]>>();
  const metrics: Metrics = {
    enabled: true,
    add: () => undefined,
    set: () => undefined,
    record: (name, value, attributes) => {
      recorded.set(name, [...(recorded.get(name) ?? []), { value, attributes }]);
    },
    observe: (name, read) => {
      gauges.set(name, read);
      return () => void gauges.delete(name);
    },
  };
  return { metrics, recorded, gauges };
};

const observed = () => {
  const { metrics, recorded, gauges } = listening();
  const pages: number[] = [];
  const observer = readModelObserver({
    db: audit.db,
    log: silentLog,
    telemetry: {
      metrics,
      project: async (_, events, apply) => {
        pages.push(events.length);
        await apply();
      },
    },
  });
  const changes = { published: new Changes(), shown: new Changes() };
  const step = keepReadModel({ db: audit.db, store: audit.store, owner: 'a', ...changes, observer });
  return { step, recorded, gauges, pages, observer };
};

describe('who looks on while the read model is kept', () => {
  test('measures each lineage that has ended once, and counts tasks and open dead letters', async () => {
    const { told: story, tell } = telling();
    repaired('r1', { told: story, tell });
    tell('dead-validator-1', 'dead-validator-1', deadLettered());
    tell('dead-validator-2', 'dead-validator-2', deadLettered());
    tell('dead-validator-2', 'dead-validator-2', deadLetterReplayed(1));
    await append(audit.store, story);
    const { step, recorded, gauges, pages, observer } = observed();
    const stop = new AbortController();
    await eventually('everything is projected', async () => {
      await step(stop.signal);
      return pages.reduce((sum, events) => sum + events, 0) === story.length;
    });
    const state = { 'fixpoint.lineage.state': 'completed' };
    // Every event of the history comes a second after the one before.
    const [first, last] = [story[0], story.findLast(({ event }) => event.type === 'task_completed')];
    const tookMs = Date.parse(last?.event.occurred_at ?? '') - Date.parse(first?.event.occurred_at ?? '');
    expect(recorded.get('fixpoint.lineage.time_to_converge')).toEqual([{ value: tookMs / 1_000, attributes: state }]);
    expect(recorded.get('fixpoint.lineage.closure.depth')).toEqual([{ value: 1, attributes: state }]);
    expect(recorded.get('fixpoint.lineage.attempts')).toEqual([{ value: 1, attributes: state }]);
    const tasks = await gauges.get('fixpoint.task.count')?.();
    expect(tasks).toHaveLength(taskStatusSchema.options.length);
    expect(tasks).toEqual(
      expect.arrayContaining([
        { value: 2, attributes: { 'fixpoint.task.state': 'completed' } },
        { value: 0, attributes: { 'fixpoint.task.state': 'running' } },
      ]),
    );
    expect(await gauges.get('fixpoint.dead_letter.open')?.()).toEqual(
      expect.arrayContaining([
        { value: 1, attributes: { 'fixpoint.service': 'validator' } },
        { value: 0, attributes: { 'fixpoint.service': 'executor' } },
      ]),
    );
    observer.onModuleDestroy();
    expect(gauges.size).toBe(0);
  });
});
