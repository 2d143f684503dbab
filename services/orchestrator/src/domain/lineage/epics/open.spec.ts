import { askCondition } from '@fixpoint/validation/condition';
import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, ROOT, ref, taskSpec, verdict } from '../lineage.fixture.ts';
import { API, EpicPlay, slice, splitInTwo, two, WEB } from './epic.fixture.ts';
import { refusalOf } from './open.ts';

const stalled = (bounds: Parameters<typeof mode>[0] = {}): EpicPlay => {
  const play = new EpicPlay(mode(bounds));
  play.submit();
  return play.stall(ROOT);
};
const slices = (count: number) => Array.from({ length: count }, (_, n) => slice(`part${n + 1}`));

describe('a split', () => {
  test('H-T10 H-T46 makes all children in one event, each with its first run, and calls no human', () => {
    const play = stalled();
    expect(play.split(ROOT, slices(3))).toEqual([
      'epic_opened',
      'affinity_changed',
      'node_ready',
      'node_ready',
      'node_ready',
    ]);
    expect(play.last('epic_opened')).toMatchObject({
      task: ROOT,
      epic: `${ROOT}.e1`,
      closes_by: 'recompose',
      split_depth: 1,
      lineage_children: 3,
      auto_decomposed: true,
      children: [
        { task: `${ROOT}.1`, address: '0.1', name: 'part1', goal: 'part1 is done' },
        { task: `${ROOT}.2`, address: '0.2' },
        { task: `${ROOT}.3`, address: '0.3' },
      ],
    });
    expect(play.root.status).toBe('superseded');
    expect(play.count('human_required')).toBe(0);
  });

  test('B19 leaves the parent without a run of its own: it holds nothing that its children need', () => {
    const play = splitInTwo();
    expect(play.root).toMatchObject({ current: null, retry: null, queued: null });
    expect(play.task(API)).toMatchObject({ kind: 'child', parent: ROOT, unit: API, depth: 1, splitDepth: 1 });
  });

  test('H-T49 U-T36 says of every child how deep it is, and of scope and protocol what the root was admitted under', () => {
    const play = splitInTwo();
    play.stall(API).split(API, slices(2));
    const { scope, protocol, source, intent } = play.on(`${API}.1`).ready;
    const first = play.facts.find((fact) => fact.type === 'node_ready');
    expect({ scope, protocol, source, intent }).toEqual({
      ...{ scope: play.state.scope, protocol: play.state.protocol, source: play.state.source },
      intent: first?.type === 'node_ready' ? first.data.intent : '',
    });
    expect(play.task(`${API}.1`)).toMatchObject({ address: '0.1.1', splitDepth: 2, depth: 2 });
  });

  test('H-T50 of nothing leaves the depths as they are', () => {
    const play = new EpicPlay();
    play.submit();
    expect([play.root.splitDepth, play.state.childrenUsed]).toEqual([0, 0]);
  });

  test('H-T40 lowers the rank in the same append, and withdraws what a human was asked', () => {
    const play = stalled();
    play.letter();
    expect(play.split(ROOT, slices(2)).slice(0, 3)).toEqual(['epic_opened', 'affinity_changed', 'handoff_withdrawn']);
    expect(play.last('affinity_changed')).toMatchObject({ task: ROOT, from: 0, to: -10, reason: 'stalled' });
    expect(play.unit.handoff).toBeNull();
  });

  test('tells every child what failed before', () => {
    const play = new EpicPlay(mode({ max_total_fix_attempts: 1 }));
    play.submit();
    play.judge([verdict('lint')], { workspace_ref: ref('x') });
    play.judge([], { workspace_ref: ref('fixed') });
    play.judge([verdict('format')], { workspace_ref: ref('y') });
    play.stall(ROOT).split(ROOT, slices(2));
    const { failure_signal: signal } = play.last('epic_opened').children[0] ?? {};
    expect(signal).toMatchObject({
      justifications: [{ justification: 'recovery_exhausted: max_total_fix_attempts' }],
      prior_failures: [{ validator: 'lint', justification: 'lint objects' }],
    });
    expect(play.on(API).ready.brief).toMatchObject({ intent: 'All is committed', ...signal });
  });

  test('starts its children where the unit was accepted last, not at what failed', () => {
    const play = new EpicPlay();
    play.submit(taskSpec(two()));
    play.judge([], { workspace_ref: ref('accepted') });
    play.stall(ROOT).split(ROOT, slices(2));
    expect(play.on(API).ready.workspace_ref).toEqual(ref('accepted'));
    expect(play.task(API)).toMatchObject({ baseRef: ref('accepted'), accepted: ref('accepted') });
  });

  test('H-T15 C7 is made once, however often the council says yes', () => {
    const play = stalled();
    const answer = play.unitOf(ROOT).request.number;
    play.split(ROOT, slices(2));
    expect(play.split(ROOT, slices(2))).toEqual([]);
    expect([answer, play.count('epic_opened'), play.state.childrenUsed]).toEqual([1, 1, 2]);
  });

  test('C19 C1 is one fact: the children are there as soon as the parent is superseded', () => {
    const play = stalled();
    play.split(ROOT, slices(4));
    const opened = play.facts.findIndex(({ type }) => type === 'epic_opened');
    expect(play.epic().children.map(({ task }) => play.task(task).status)).toEqual(['open', 'open', 'open', 'open']);
    expect(play.facts.slice(0, opened).some(({ type }) => type === 'epic_child_resolved')).toBe(false);
  });
});

describe('the budget of splits', () => {
  test('H-T57 C6 is full: exactly as many children as are left are made', () => {
    const play = stalled({ max_total_decomposition_children: 4 });
    expect(play.split(ROOT, slices(4))[0]).toBe('epic_opened');
    expect(play.state.childrenUsed).toBe(4);
  });

  test('H-T56 H-T12 refuses one child too many whole, and asks once more with what is left', () => {
    const play = stalled({ max_total_decomposition_children: 3 });
    expect(play.split(ROOT, slices(4))).toEqual(['split_refused', 'decomposition_requested']);
    expect(play.last('split_refused')).toMatchObject({
      reason: 'children',
      asked: 4,
      budget: { children_left: 3, depth_left: 2 },
      asked_again: true,
    });
    expect(play.last('decomposition_requested')).toMatchObject({ request: 2, budget: { children_left: 3 } });
    expect(play.split(ROOT, slices(4))).toEqual(['split_refused', 'human_required', 'affinity_changed']);
    expect(play.last('human_required').detail).toMatch(/4 children would be made in all, 3 are allowed/);
    expect(play.state.childrenUsed).toBe(0);
  });

  test('is the lineage’s, not the unit’s: children of children count too', () => {
    const play = splitInTwo(mode({ max_total_decomposition_children: 4 }));
    play.stall(API);
    expect(play.last('decomposition_requested').budget).toMatchObject({ children_left: 2, depth_left: 1 });
    play.split(API, slices(2));
    expect(play.last('epic_opened').lineage_children).toBe(4);
    play.stall(WEB);
    expect(play.last('split_excluded')).toMatchObject({ task: WEB, reason: 'children', budget: { children_left: 0 } });
  });

  test('H-T55 lets a child be split at the depth that is allowed', () => {
    const play = splitInTwo(mode({ max_decomposition_depth: 2 }));
    play.stall(API).split(API, slices(2));
    expect(play.last('epic_opened').split_depth).toBe(2);
  });

  test('H-T54 C5 asks nobody for one level more', () => {
    const play = splitInTwo(mode({ max_decomposition_depth: 1 }));
    play.stall(API);
    expect(play.last('split_excluded')).toMatchObject({ task: API, reason: 'depth', budget: { depth_left: 0 } });
    expect(play.split(API, slices(2))).toEqual([]);
  });

  test('C9 does not come back when a child is done', () => {
    const play = splitInTwo(mode({ max_total_decomposition_children: 4 }));
    play.done(API);
    play.stall(WEB);
    expect(play.last('decomposition_requested').budget.children_left).toBe(2);
  });

  test('H-T51 does not hold what no event could hold', () => {
    const play = stalled();
    const large = (name: string) => slice(name, { nodes: [nodeSpec({ id: name, goal: 'x'.repeat(15_000) })] });
    const names = ['a', 'b', 'c', 'd', 'e'];
    expect(play.split(ROOT, names.map(large))).toEqual(['split_refused', 'decomposition_requested']);
    expect(play.last('split_refused').reason).toBe('too_large');
  });
});

describe('a unit that can not be split', () => {
  test('H-T14 is one that was, or a fix, whoever asks', () => {
    const play = splitInTwo();
    const turn = { now: play.now, mode: play.mode, askCondition, state: play.state };
    const split = { request: 1, slices: slices(2), kind: 'split', auto: true } as const;
    expect(refusalOf(turn, play.root, split)?.reason).toBe('already_split');
    play.on(API).judge([verdict('lint')]);
    const state = play.state;
    expect(refusalOf({ ...turn, state }, play.task(`${API}.f1`), split)?.reason).toBe('fix');
    expect(refusalOf({ ...turn, state }, play.task(WEB), split)).toBeNull();
    expect(refusalOf({ ...turn, state }, play.task(WEB), { ...split, slices: [] })?.reason).toBe('unusable');
  });
});

describe('after the deadline', () => {
  test('what the council said holds, and none of the children starts', () => {
    const play = stalled();
    play.deadline();
    expect(play.split(ROOT, slices(2))).toEqual([
      ...['epic_opened', 'affinity_changed', 'node_queued', 'node_queued', 'human_required'],
    ]);
    expect(play.last('human_required')).toMatchObject({ raw_halt_type: 'deadline', help: 'budget' });
  });
});
