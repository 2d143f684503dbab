import { describe, expect, test } from '@jest/globals';
import { mode, NOW, nodeSpec, ROOT, ref, taskSpec, verdict } from '../lineage.fixture.ts';
import { CHILDREN_VARIABLE } from './children-results.ts';
import { API, EpicPlay, slice, splitInTwo, two, WEB } from './epic.fixture.ts';
import { RECOMPOSE } from './recompose.ts';

const assembling = (bounds: Parameters<typeof mode>[0] = {}): EpicPlay => {
  const modeSpec = mode(bounds);
  const play = splitInTwo({
    ...modeSpec,
    backoffs: { ...modeSpec.backoffs, recompose: [60_000, 240_000, 86_400_000] },
  });
  play.done(API);
  play.done(WEB);
  return play.on(ROOT) as EpicPlay;
};
const inMs = (ms: number): string => new Date(Date.parse(NOW) + ms).toISOString();

describe('a unit whose children are all done', () => {
  test('H-T99 U-T12 is assembled from what they landed, once the last of them is done and not before', () => {
    const play = splitInTwo();
    play.done(API);
    expect(play.count('recompose_started')).toBe(0);
    play.good(WEB);
    expect(play.merged(WEB)).toEqual([
      ...['task_completed', 'affinity_changed', 'epic_child_resolved'],
      ...['recompose_started', 'affinity_changed', 'node_ready'],
    ]);
    expect(play.on(ROOT).ready).toMatchObject({ purpose: 'recompose', run_kind: 'normal', node_index: 0 });
    expect(play.ready.workspace_ref).toEqual(ref(`${WEB}#2`));
  });

  test('is lifted to where it is dispatched before it runs', () => {
    const play = assembling();
    expect(play.last('affinity_changed')).toMatchObject({ task: ROOT, from: -10, to: -5, reason: 'recompose_started' });
  });

  test('U-T14 U-T37 is told what they came to; no other run is', () => {
    const play = assembling();
    const told: unknown = JSON.parse(play.ready.node.env[CHILDREN_VARIABLE] ?? '');
    expect(told).toMatchObject([
      { task: API, name: 'api', outcome: 'satisfied', commit: ref(`${API}#1`).commit },
      { task: WEB, name: 'web', outcome: 'satisfied' },
    ]);
    const before = play.facts.find((fact) => fact.type === 'node_ready');
    expect(before?.type === 'node_ready' && before.data.node.env).toEqual({});
  });

  test('closes with its epic when it is verified, and only then', () => {
    const play = assembling();
    expect(play.count('epic_closed')).toBe(0);
    expect(play.judge()).toEqual(['node_completed', 'task_completed', 'epic_closed', 'affinity_changed']);
    expect(play.last('epic_closed')).toMatchObject({ by: 'recompose', outcome: 'satisfied', children: 2, excluded: 0 });
    expect(play.root.status).toBe('completed');
  });

  test('goes on with its later nodes', () => {
    const play = new EpicPlay();
    play.submit(taskSpec(two()));
    play.stall(ROOT).split(ROOT, [slice('api'), slice('web')]);
    play.done(API);
    play.done(WEB);
    expect(play.good(ROOT)).toEqual(['node_completed', 'node_ready']);
    expect(play.good(ROOT)).toEqual(['node_completed', 'task_completed', 'epic_closed', 'affinity_changed']);
  });

  test('H-T69 H-T70 H-B01 counts for the level above only when its own epic has closed, any number of levels', () => {
    const play = splitInTwo();
    play.done(WEB);
    play.stall(API).split(API, [slice('a'), slice('b')]);
    play.done(`${API}.1`);
    expect(play.done(`${API}.2`)).toContain('recompose_started');
    expect(play.count('recompose_started')).toBe(1);
    expect(play.task(ROOT).status).toBe('superseded');
    play.good(API);
    expect(play.merged(API)).toEqual([
      ...['task_completed', 'epic_closed', 'affinity_changed', 'epic_child_resolved'],
      ...['recompose_started', 'affinity_changed', 'node_ready'],
    ]);
    play.good(ROOT);
    expect(play.root.status).toBe('completed');
  });

  test('is repaired by fixes as any other', () => {
    const play = assembling();
    expect(play.judge([verdict('lint')])).toEqual(['run_counted', 'subtask_spawned', 'node_ready']);
    play.on(`${ROOT}.f1`).judge();
    expect(play.good(ROOT)).toContain('epic_closed');
  });
});

describe('a recompose that fails', () => {
  test('sinks to the lowest rank that is dispatched, and is tried again', () => {
    const play = assembling();
    expect(play.unmet('x')).toEqual(['run_counted', 'recompose_failed']);
    expect(play.last('recompose_failed')).toMatchObject({ attempt: 1, limit: 5, next_at: inMs(60_000) });
    expect(play.unit.affinity).toBe(-5);
    expect(play.recomposeDue()).toEqual(['recompose_started', 'node_ready']);
    expect(play.last('recompose_started').attempt).toBe(2);
  });

  test('U-T05 U-T09 loses ten ranks down to the floor, is never raised by it, and says nothing where nothing changes', () => {
    const play = assembling();
    play.unmet('x');
    expect(
      play.facts.filter((fact) => fact.type === 'affinity_changed' && fact.data.reason === 'recompose_failed'),
    ).toEqual([]);
  });

  test('counts as that and nowhere else', () => {
    const play = assembling();
    const { execute, judge } = play.root.node.counters;
    play.unmet('x');
    expect(play.root.node.counters).toMatchObject({ execute, judge });
    expect(play.epic().recompose.failed).toBe(1);
  });

  test('at a later node starts over at the node that had stalled', () => {
    const play = new EpicPlay();
    play.submit(taskSpec(two()));
    play.stall(ROOT).split(ROOT, [slice('api'), slice('web')]);
    play.done(API);
    play.done(WEB);
    play.good(ROOT);
    play.unmet('x');
    play.recomposeDue();
    expect(play.ready).toMatchObject({ purpose: 'recompose', node_index: 0, workspace_ref: ref(`${WEB}#2`) });
  });

  test('fails when its recovery ends, too', () => {
    const play = assembling();
    expect(play.judge([verdict('ghost')])).toEqual(['run_counted', 'recovery_exhausted', 'recompose_failed']);
    expect(play.last('recompose_failed').reason).toBe('no_fix');
  });

  test('is told to a human when it fails twice in the same way, and is still tried, more seldom', () => {
    const play = assembling();
    play.unmet('x');
    play.recomposeDue();
    expect(play.unmet('x')).toEqual(['run_counted', 'recompose_failed', 'human_required']);
    expect(play.last('recompose_failed')).toMatchObject({ repeated: true, next_at: inMs(86_400_000) });
    expect(play.last('human_required')).toMatchObject({ raw_halt_type: RECOMPOSE, run_open: true });
    expect(play.recomposeDue()).toEqual(['recompose_started', 'node_ready']);
    expect(play.judge()).toEqual([
      ...['node_completed', 'task_completed', 'epic_closed', 'affinity_changed', 'handoff_withdrawn'],
    ]);
  });

  test('is told to a human when its attempts are used up, and is never buried', () => {
    const play = assembling({ max_recompose_attempts: 2 });
    play.unmet('x');
    play.recomposeDue();
    expect(play.unmet('y')).toContain('human_required');
    for (const tree of ['z', 'u', 'v']) {
      play.recomposeDue();
      expect(play.unmet(tree)).toEqual(['run_counted', 'recompose_failed']);
    }
    expect(play.unit.affinity).toBe(-5);
    expect(play.count('human_required')).toBe(1);
  });

  test('is tried no more when the iterations of its node are used up', () => {
    const play = assembling({ iterations: 6 });
    while (play.root.node.counters.iterations < 5) {
      play.unmet(`tree ${play.facts.length}`);
      play.recomposeDue();
    }
    expect(play.unmet('last')).toContain('recompose_failed');
    expect(play.last('recompose_failed').next_at).toBeNull();
    expect(play.last('human_required')).toMatchObject({ raw_halt_type: 'recompose', run_open: false });
  });

  test('U-T39 is no failure where the machinery failed: no attempt and no rank', () => {
    const play = assembling();
    expect(play.end({ outcome: 'faulted', fault_class: 'network' })).toEqual(['fault_recorded']);
    expect([play.epic().recompose.failed, play.unit.affinity]).toEqual([0, -5]);
    expect(play.retry()).toEqual(['node_ready']);
  });

  test('U-T11 is never split again', () => {
    const play = assembling();
    play.unmet('x');
    play.recomposeDue();
    play.unmet('x');
    expect(play.facts.filter(({ type }) => type === 'epic_opened')).toHaveLength(1);
    expect(play.count('decomposition_requested')).toBe(1);
  });

  test('C21 C14 does nothing when its timer rings early, late or twice', () => {
    const play = assembling();
    const due = (attempt: number) =>
      play.send({ type: 'timer_due', timer: { kind: 'recompose', task: ROOT, attempt } });
    expect(due(1)).toEqual([]);
    play.unmet('x');
    expect(due(2)).toEqual([]);
    expect(due(1)).toEqual(['recompose_started', 'node_ready']);
    expect(due(1)).toEqual([]);
  });

  test('B14 C15 does not open again what is done', () => {
    const play = assembling();
    const { run, task } = play.ready;
    play.judge();
    const late = { type: 'fault_run', task, run, phase: 'action', class: 'no_answer', detail: '' } as const;
    expect(play.send({ ...late, retryAfterMs: 0, result: null, effects: 'possible' })).toEqual([]);
    expect(play.root.status).toBe('completed');
  });
});

describe('an ordinary stall', () => {
  test('has no floor', () => {
    const play = new EpicPlay();
    play.submit({ ...taskSpec([nodeSpec()]), priority: -5 });
    play.stall(ROOT).split(ROOT, [slice('api'), slice('web')]);
    expect(play.unit.affinity).toBe(-15);
  });
});
