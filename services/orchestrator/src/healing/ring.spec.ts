import { describe, expect, test } from '@jest/globals';
import { ROOT } from '../domain/lineage/lineage.fixture.ts';
import { World } from '../orchestrator.fixture.ts';
import type { TimerRow } from '../waits/wait-rows.ts';
import { ring } from './ring.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const timer = (root: string, number: number): TimerRow => ({
  ...{ id: `${root}:retry:${number}`, root, kind: 'retry', task: root, number, due_at: NOW, next_at: NOW },
});

/** One round over these timers. */
const round = async (world: World, timers: readonly TimerRow[]) => {
  const fired: string[] = [];
  const troubles: string[] = [];
  const waits = {
    claimTimers: () => Promise.resolve(timers),
    fired: async ({ id }: TimerRow) => void fired.push(id),
    claimWaiting: () => Promise.resolve([]),
    reschedule: () => Promise.resolve(),
    keep: () => Promise.resolve(),
  };
  const { lineages, publisher, clock } = world;
  const report = (_error: unknown, { id }: TimerRow) => void troubles.push(id);
  await ring({ waits, lineages, publisher, clock, report })(AbortSignal.abort());
  return { fired, troubles };
};

describe('a round of timers', () => {
  test('starts what was waiting, and is over with it', async () => {
    const world = new World();
    await world.submit();
    await world.hear(await world.end({ outcome: 'faulted', fault_class: 'disk' }));
    expect(await round(world, [timer(ROOT, 1)])).toEqual({ fired: [`${ROOT}:retry:1`], troubles: [] });
    expect((await world.ready()).run).toBe(2);
    expect(world.published.map(({ offer }) => offer.event.type)).toEqual(['node_ready']);
  });

  test('D3 warns of the end of a handoff', async () => {
    const world = new World();
    await world.submit();
    await world.hear(await world.end({ outcome: 'faulted', fault_class: 'source' }));
    const { warn_at: due_at } = await world.newest('human_required');
    const warning = { ...timer(ROOT, 1), id: `${ROOT}.h1:warning:${due_at}`, kind: 'warning', due_at } as const;
    expect((await round(world, [warning])).fired).toEqual([warning.id]);
    expect((await world.newest('handoff_warned')).share).toBe(50);
  });

  test('is over with a timer that came too late', async () => {
    const world = new World();
    await world.submit();
    expect((await round(world, [timer(ROOT, 9)])).fired).toEqual([`${ROOT}:retry:9`]);
    expect(await world.types()).toEqual(['task_submitted', 'node_ready']);
  });

  test('is over with a timer of a lineage that is not here', async () => {
    expect((await round(new World(), [timer('gone', 1)])).fired).toEqual(['gone:retry:1']);
  });

  test('leaves a timer that could not be prepared for another time, and rings the others', async () => {
    const world = new World();
    await world.submit();
    await world.hear(await world.end({ outcome: 'faulted', fault_class: 'disk' }));
    await world.append('lineage-broken', { type: 'task_submitted', schema_version: 9, data: { root: 'broken' } });
    const { fired, troubles } = await round(world, [timer('broken', 1), timer(ROOT, 1)]);
    expect([fired, troubles]).toEqual([[`${ROOT}:retry:1`], ['broken:retry:1']]);
  });
});
