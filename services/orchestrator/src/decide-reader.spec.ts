import { actionStream } from '@fixpoint/contracts/streams';
import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, ROOT, taskSpec } from './domain/lineage/lineage.fixture.ts';
import { World } from './orchestrator.fixture.ts';

const DONE = { verdict: 'done' };

describe('the reader that decides', () => {
  test('remembers a good result until it is judged, and publishes what follows', async () => {
    const world = new World();
    await world.submit();
    expect(await world.hear(await world.end({ output: 'out' }))).toEqual([DONE]);
    expect(await world.types()).toEqual(['task_submitted', 'node_ready']);
    expect(await world.hear(await world.judge())).toEqual([DONE]);
    expect(await world.types()).toEqual(['task_submitted', 'node_ready', 'node_completed', 'task_completed']);
    expect(await world.newest('task_completed')).toMatchObject({ output: 'out' });
  });

  test('H-T97 accounts for a good result at once where money was reserved, though its task was cancelled', async () => {
    const world = new World(mode({ run_money_micros: 100 }));
    await world.submit(ROOT, taskSpec([nodeSpec({ policy: 'recover', max_repair_attempts: 1 })]));
    const ended = await world.end({ spent: { duration_ms: 1, money_micros: 30, tokens: 0 } });
    const cause = { id: 'cancel', time: world.clock.now().toISOString(), actor: 'ada' };
    const command = { type: 'cancel_task', task: ROOT, reason: '' } as const;
    await world.lineages.decide('spec', [
      await world.lineages.commandFor({ root: ROOT, command, cause, nodeReady: null }),
    ]);
    await world.hear(ended);
    expect(await world.newest('run_accounted')).toMatchObject({ run: 1, total: { money_micros: 30 } });
  });

  test('reads no action stream for a result that it has heard of', async () => {
    const world = new World();
    await world.submit();
    await world.hear(await world.end());
    const read: string[] = [];
    const readStreams = world.store.readStreams.bind(world.store);
    world.store.readStreams = (streams) => {
      read.push(...streams);
      return readStreams(streams);
    };
    await world.hear(await world.judge());
    expect(read.filter((stream) => stream.startsWith('action-'))).toEqual([]);
  });

  test('reads a result that it has not heard of', async () => {
    const world = new World();
    await world.submit();
    await world.end({ output: 'out' });
    await world.hear(await world.judge());
    expect(await world.newest('task_completed')).toMatchObject({ output: 'out' });
  });

  test('takes the result that stands beside a judgement in one batch, in any order', async () => {
    const world = new World();
    await world.submit();
    const ended = await world.end();
    expect(await world.hear(await world.judge(), ended)).toEqual([DONE, DONE]);
    expect(await world.types()).toContain('task_completed');
  });

  test('publishes what it decides', async () => {
    const world = new World();
    await world.submit();
    await world.hear(await world.end({ outcome: 'unmet' }));
    expect(world.published.map(({ offer }) => offer.event.type)).toEqual(['node_ready']);
  });

  test('decides on the answers of many lineages at once, each on its own stream', async () => {
    const world = new World();
    const roots = ['a1', 'a2', 'a3'];
    for (const root of roots) await world.submit(root);
    const ends = await Promise.all(roots.map((root) => world.end({ outcome: 'unmet' }, root)));
    expect(await world.hear(...ends)).toEqual([DONE, DONE, DONE]);
    for (const root of roots) expect((await world.ready(root)).run).toBe(2);
  });

  test('A1 appends nothing for an answer that is told twice', async () => {
    const world = new World();
    await world.submit();
    const ended = await world.end({ outcome: 'unmet' });
    expect(await world.hear(ended, ended)).toEqual([DONE, DONE]);
    expect(await world.hear(ended)).toEqual([DONE]);
    expect((await world.types()).filter((type) => type === 'node_ready')).toHaveLength(2);
  });

  test('F7 fails on a judgement of a result that nobody can read, and on nothing else beside it', async () => {
    const world = new World();
    await world.submit();
    await world.submit('other');
    const { task, run } = await world.ready('other');
    const newer = { type: 'node_verified_action', schema_version: 99, data: { root: 'other' } };
    await world.append(actionStream(task, run), newer);
    const verdicts = await world.hear(await world.judge('other'), await world.end({ outcome: 'unmet' }));
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['failed', 'done']);
  });

  test('fails on an event that nobody can read, and on nothing else beside it', async () => {
    const world = new World();
    await world.submit();
    const broken = await world.append('action-x-1', {
      type: 'node_verified_action',
      schema_version: 1,
      data: { root: ROOT },
    });
    const later = await world.append('action-x-2', {
      type: 'node_verified_action',
      schema_version: 99,
      data: { root: ROOT },
    });
    const [first, second, third] = await world.hear(broken, later, await world.end({ outcome: 'unmet' }));
    expect([first?.verdict, second?.verdict, third?.verdict]).toEqual(['failed', 'failed', 'done']);
  });

  test('lets go of an answer for a lineage that is not here', async () => {
    const world = new World();
    await world.submit();
    const { address, run } = await world.ready();
    const stray = await world.say(actionStream('gone', 1), 'run_refused', {
      ...{ root: 'gone', task: 'gone', address, run, reason: 'token_expired', detail: '' },
    });
    expect(await world.hear(stray)).toEqual([DONE]);
    expect(world.reported).toEqual(['lineage_unknown']);
  });

  test('fails on a judgement without a result, so that somebody looks at it', async () => {
    const world = new World();
    await world.submit();
    expect(await world.hear(await world.judge())).toMatchObject([{ verdict: 'failed' }]);
  });
});
