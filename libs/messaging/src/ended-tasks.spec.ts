import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { describe, expect, test } from '@jest/globals';
import { endedTasks } from './ended-tasks.ts';
import { hasEnded } from './run-lookup.ts';

const ROOT = 'r';
const STREAM = `lineage-${ROOT}`;

type Told = readonly [type: string, task: string, revokedRuns?: readonly number[]];

const told = async (store: MemoryEventStore, ...events: readonly Told[]) => {
  const expectedVersion = (await store.readStream(STREAM)).length;
  const metadata = { causation_id: 'c', correlation_id: ROOT, producer: 'spec', actor: 'local' };
  const outcome = await store.append({
    ...{ stream: STREAM, root: ROOT, expectedVersion },
    events: events.map(([type, task, revoked_runs = []], index) => ({
      ...{ type, schema_version: 1, data: { task, revoked_runs }, metadata, occurred_at: '2026-01-01T00:00:00.000Z' },
      id: `00000000-0000-8000-8000-${String(expectedVersion + index).padStart(12, '0')}`,
    })),
  });
  expect(outcome.outcome).toBe('appended');
};

describe('tasks that have ended', () => {
  test('are known when they end between two questions, and stay so', async () => {
    const store = new MemoryEventStore();
    const isEnded = endedTasks(store);
    const asked = async () => [await isEnded({ root: ROOT, task: 'a' }), await isEnded({ root: ROOT, task: 'b' })];
    expect(await asked()).toEqual([false, false]);
    await told(store, ['node_ready', 'a'], ['task_blocked', 'a']);
    expect(await asked()).toEqual([true, false]);
    await told(store, ['node_ready', 'b']);
    expect(await asked()).toEqual([true, false]);
    expect(await hasEnded(store, { root: ROOT, task: 'a' })).toBe(true);
  });

  test('are not those whose run alone is over', async () => {
    const store = new MemoryEventStore();
    const isEnded = endedTasks(store);
    await told(store, ['epic_opened', 'a', [1]]);
    expect([
      await isEnded({ root: ROOT, task: 'a', run: 1 }),
      await isEnded({ root: ROOT, task: 'a', run: 2 }),
    ]).toEqual([...[true, false]]);
    expect(await isEnded({ root: ROOT, task: 'a' })).toBe(false);
    expect(await hasEnded(store, { root: ROOT, task: 'a', run: 1 })).toBe(true);
  });

  test('cost a read of what is new, however long the lineage is', async () => {
    const store = new MemoryEventStore();
    const read: number[] = [];
    const isEnded = endedTasks({
      readStream: async (stream, fromVersion) => {
        const events = await store.readStream(stream, fromVersion);
        read.push(events.length);
        return events;
      },
    });
    await told(store, ...Array.from({ length: 300 }, () => ['node_ready', 'a'] as const));
    await isEnded({ root: ROOT, task: 'a' });
    await told(store, ['node_ready', 'a']);
    await isEnded({ root: ROOT, task: 'a' });
    await isEnded({ root: ROOT, task: 'a' });
    expect(read).toEqual([300, 1, 0]);
  });
});
