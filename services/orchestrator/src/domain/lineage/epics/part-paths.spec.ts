import type { PartSpec } from '@fixpoint/contracts/documents/task';
import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, ROOT, ref, taskSpec, verdict } from '../lineage.fixture.ts';
import { API, EpicPlay, slice, WEB } from './epic.fixture.ts';

const part = (name: string, paths: string[], parts: PartSpec[] = []): PartSpec => ({
  ...{ name, goal: `${name} is done`, paths, parts, nodes: [nodeSpec({ id: name })] },
});

const INNER = [part('routes', ['api/routes/**']), part('models', [])];
const PARTS = [part('api', ['api/**'], INNER), part('web', [])];

/** Its children were declared, and one of them says what it may change. */
const declared = (): EpicPlay => {
  const play = new EpicPlay(mode());
  play.submit({ ...taskSpec(), parts: PARTS });
  play
    .stall(ROOT)
    .split(ROOT, [slice('api', { paths: ['api/**'], parts: INNER }), slice('web', { paths: ['web/**'] })]);
  return play;
};

describe('a child of a declared part', () => {
  test('may change what the part declares, and a child that nobody limits may change anything', () => {
    const play = declared();
    expect(play.last('epic_opened').children.map(({ paths }) => paths)).toEqual([['api/**'], undefined]);
    expect(play.on(API).ready.paths).toEqual([['api/**']]);
    expect(play.on(WEB).ready).not.toHaveProperty('paths');
  });

  test('is limited no more than that by what a council guesses', () => {
    const play = new EpicPlay(mode());
    play.submit();
    play.stall(ROOT).split(ROOT, [slice('api', { paths: ['api/**'] }), slice('web')]);
    expect(play.on(API).ready).not.toHaveProperty('paths');
  });

  test('passes its limit on to its own children, which may narrow it', () => {
    const play = declared();
    play.stall(API).split(API, [slice('routes', { paths: ['api/routes/**'] }), slice('models')]);
    expect(play.on(`${API}.1`).ready.paths).toEqual([['api/**'], ['api/routes/**']]);
    expect(play.on(`${API}.2`).ready.paths).toEqual([['api/**']]);
  });

  test('is limited in its fixes and its agents, too', () => {
    const play = declared();
    play.on(API).judge([verdict('lint')]);
    expect(play.on(play.last('subtask_spawned').task_ref).ready).toMatchObject({ task_kind: 'fix' });
    expect(play.ready.paths).toEqual([['api/**']]);
  });

  test('is merged, and checked, without a limit, and runs again within it after a merge that clashed', () => {
    const play = declared();
    play.good(API);
    expect(play.on(API).ready).toMatchObject({ run_kind: 'integrate' });
    expect(play.on(API).ready).not.toHaveProperty('paths');
    play.end({ outcome: 'unmet', postcondition_met: false, merge_conflicts: ['web/x'], workspace_ref: ref('merge') });
    expect(play.on(API).ready).toMatchObject({ run_kind: 'normal', paths: [['api/**']] });
  });

  test('limits nothing of the whole that is put together again', () => {
    const play = declared();
    play.done(API);
    play.done(WEB);
    expect(play.on(ROOT).ready).toMatchObject({ purpose: 'recompose' });
    expect(play.on(ROOT).ready).not.toHaveProperty('paths');
  });

  test('is limited as before when it has waited in the queue', () => {
    const play = new EpicPlay(mode());
    play.submit({ ...taskSpec(), parts: PARTS });
    play.stall(ROOT);
    play.admission = { room: false, paused: [] };
    play.split(ROOT, [slice('api', { paths: ['api/**'] }), slice('web')]);
    play.send({ type: 'start_queued', task: API, run: 1 });
    expect(play.on(API).ready.paths).toEqual([['api/**']]);
  });
});
