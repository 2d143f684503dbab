import { describe, expect, test } from '@jest/globals';
import { nodeSpec, Play, ROOT, taskSpec } from './lineage.fixture.ts';
import { queueClassOf } from './queue.ts';

const play = (more: Partial<ReturnType<typeof taskSpec>> = {}): Play => {
  const playing = new Play();
  playing.admission = { room: false, paused: [] };
  return playing.submit({ ...taskSpec([nodeSpec(), nodeSpec({ id: 'push' })]), ...more });
};

const turn = (playing: Play, run: number): string[] => playing.send({ type: 'start_queued', task: ROOT, run });

describe('a run that finds no room', () => {
  test('waits under the number that it will have, and starts when its turn comes', () => {
    const playing = play();
    expect(playing.last('node_queued')).toMatchObject({
      run: 1,
      queued_for: 'window',
      class: 'normal',
      project: 'shop',
    });
    expect(playing.count('node_ready')).toBe(0);
    expect(turn(playing, 1)).toEqual(['node_ready']);
    expect(playing.last('node_ready')).toMatchObject({ run: 1, run_kind: 'normal', purpose: 'first' });
    expect(playing.unit.runs).toBe(1);
  });

  test('U-T27 is started once, however often its turn is announced', () => {
    const playing = play();
    turn(playing, 1);
    expect(turn(playing, 1)).toEqual([]);
    expect(turn(playing, 2)).toEqual([]);
  });

  test('is queued anew for each node', () => {
    const playing = play();
    turn(playing, 1);
    expect(playing.judge()).toEqual(['node_completed', 'node_queued']);
    expect(playing.root).toMatchObject({ current: null, queued: { run: 2 }, nodeIndex: 1 });
  });

  test('is not begun after the deadline: a human is asked for time', () => {
    const playing = play();
    expect(playing.deadline()).toEqual(['deadline_passed', 'human_required']);
    expect(turn(playing, 1)).toEqual([]);
    expect(playing.root.queued).toMatchObject({ run: 1 });
  });

  test('keeps what it repeats while it waits to be gated anew', () => {
    const playing = play();
    turn(playing, 1);
    expect(playing.refuse('token_expired')).toEqual(['node_queued']);
    turn(playing, 2);
    expect(playing.root.current).toMatchObject({ run: 2, regates: 1 });
  });
});

describe('a run that finds room', () => {
  const open = (): Play => {
    const playing = new Play();
    return playing;
  };

  test('starts in the append of the decision that asked for it', () => {
    expect(
      open()
        .submit()
        .facts.map(({ type }) => type),
    ).toEqual(['task_submitted', 'node_ready']);
  });

  test('waits all the same under a concurrency key, which only the keeper of its slots may grant', () => {
    const playing = open().submit({ ...taskSpec(), concurrency: { key: 'deploy', limit: 1 } });
    expect(playing.last('node_queued')).toMatchObject({ queued_for: 'concurrency', concurrency: { key: 'deploy' } });
  });

  test('B19 holds nothing while its task waits for a fix: the fix is queued, and the parent has no run', () => {
    const playing = open().submit({ ...taskSpec(), concurrency: { key: 'deploy', limit: 1 } });
    turn(playing, 1);
    playing.unmet();
    expect(playing.root).toMatchObject({ current: null, queued: { run: 2 } });
  });

  test('waits while a provider that it needs is paused', () => {
    const playing = open();
    playing.admission = { room: true, paused: ['model.default'] };
    playing.submit(taskSpec([nodeSpec({ policy: 'recover', max_repair_attempts: 1 })]));
    expect(playing.last('node_queued')).toMatchObject({ queued_for: 'provider', providers: ['model.default'] });
  });

  test('U-T17 does not start while its unit is ranked below what is viable', () => {
    const playing = open().submit({ ...taskSpec(), priority: -6 });
    expect(playing.last('node_queued')).toMatchObject({ queued_for: 'rank', class: 'low' });
  });
});

test('U-T01 ranks above 0, at 0 and below 0', () => {
  expect([1, 0, -1].map(queueClassOf)).toEqual(['high', 'normal', 'low']);
});
