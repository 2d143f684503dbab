import { describe, expect, test } from '@jest/globals';
import { nodeSpec, taskSpec } from '../domain/lineage/lineage.fixture.ts';
import { World } from '../orchestrator.fixture.ts';

const deploy = () => ({ ...taskSpec(), concurrency: { key: 'deploy', limit: 1 } });

/** The run in flight of a lineage ends well. */
const finish = async (world: World, root: string): Promise<void> => {
  await world.hear(await world.end({}, root));
  await world.hear(await world.judge(root));
};

const started = async (world: World, roots: readonly string[]): Promise<string[]> => {
  const types = await Promise.all(roots.map((root) => world.types(root)));
  return roots.filter((_, index) => types[index]?.includes('node_ready'));
};

describe('below the window', () => {
  test('a run starts in the append that asks for it, and the dispatcher has nothing to do', async () => {
    const world = new World(undefined, { total: 2, project: 2 });
    await world.submit('a');
    await world.dispatch();
    expect(await world.types('a')).toEqual(['task_submitted', 'node_ready']);
  });

  test('the next run of a task takes the room of the one that ended', async () => {
    const world = new World(undefined, { total: 1, project: 1 });
    await world.submit('a', taskSpec([nodeSpec(), nodeSpec({ id: 'push' })]));
    await finish(world, 'a');
    expect(await world.types('a')).toEqual(['task_submitted', 'node_ready', 'node_completed', 'node_ready']);
  });
});

describe('at the window', () => {
  test('F18 what is new waits until a run ends, and then starts by itself', async () => {
    const world = new World(undefined, { total: 1, project: 9 });
    for (const root of ['a', 'b', 'c']) await world.submit(root);
    await world.dispatch();
    expect(await started(world, ['a', 'b', 'c'])).toEqual(['a']);
    await finish(world, 'a');
    await world.dispatch();
    expect(await started(world, ['a', 'b', 'c'])).toEqual(['a', 'b']);
    expect(await world.types('b')).toEqual(['task_submitted', 'node_queued', 'node_ready']);
  });

  test('a batch is not let in whole because there was room for one', async () => {
    const world = new World(undefined, { total: 2, project: 9 });
    await Promise.all(['a', 'b', 'c', 'd'].map((root) => world.submit(root)));
    await world.dispatch();
    expect((await started(world, ['a', 'b', 'c', 'd'])).length).toBeLessThanOrEqual(4);
    for (const root of await started(world, ['a', 'b'])) await finish(world, root);
    await world.dispatch();
    expect(await started(world, ['a', 'b', 'c', 'd'])).toHaveLength(4);
  });

  test('a full project does not keep others waiting', async () => {
    const world = new World(undefined, { total: 9, project: 1 });
    for (const root of ['a', 'b']) await world.submit(root);
    await world.submit('c', { ...taskSpec(), project: 'lab' });
    await world.dispatch();
    expect(await started(world, ['a', 'b', 'c'])).toEqual(['a', 'c']);
  });

  test('S-T117 the higher priority goes first, and what has started or ended is no longer in the queue', async () => {
    const world = new World(undefined, { total: 1, project: 9 });
    await world.submit('a');
    await world.submit('b');
    await world.submit('c', { ...taskSpec(), priority: 5 });
    await world.dispatch();
    await finish(world, 'a');
    await world.dispatch();
    expect(await started(world, ['b', 'c'])).toEqual(['c']);
    expect((await world.queue.standing()).length).toBe(2);
    await world.dispatch();
    expect((await world.queue.standing()).length).toBe(1);
  });

  test('U-T30 a queued run is started once, by however many dispatchers', async () => {
    const world = new World(undefined, { total: 1, project: 9 });
    await world.submit('a');
    await world.submit('b');
    await world.dispatch();
    await finish(world, 'a');
    await Promise.all([world.dispatch(), world.dispatch(), world.dispatch()]);
    const types = await world.types('b');
    expect(types.filter((type) => type === 'node_ready')).toHaveLength(1);
  });
});

describe('a concurrency key', () => {
  test('B19 with one slot lets a task through that is run again and again', async () => {
    const world = new World();
    await world.submit('a', deploy());
    await world.submit('b', deploy());
    await world.dispatch();
    expect(await started(world, ['a', 'b'])).toEqual(['a']);
    await world.clock.advance(1_000);
    await world.hear(await world.end({ outcome: 'unmet', postcondition_met: false }, 'a'));
    for (let round = 0; round < 4; round += 1) await world.dispatch();
    const flying = await started(world, ['b']);
    expect(flying).toEqual(['b']);
    await finish(world, 'b');
    for (let round = 0; round < 4; round += 1) await world.dispatch();
    expect((await world.types('a')).filter((type) => type === 'node_ready')).toHaveLength(2);
    await finish(world, 'a');
    expect((await world.types('a')).at(-1)).toBe('task_completed');
  });

  test('leaves alone whoever has none', async () => {
    const world = new World();
    for (const root of ['a', 'b']) await world.submit(root, deploy());
    await world.submit('c');
    expect(await started(world, ['a', 'b', 'c'])).toEqual(['c']);
  });
});
