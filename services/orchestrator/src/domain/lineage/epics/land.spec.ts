import type { Decision } from '@fixpoint/contracts/human-decision';
import { askCondition } from '@fixpoint/validation/condition';
import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, ROOT, ref, taskSpec } from '../lineage.fixture.ts';
import { API, EpicPlay, slice, splitInTwo, two, WEB } from './epic.fixture.ts';
import { landed } from './land.ts';
import { isFree, waitsToLand } from './landing.ts';
import { isLanding } from './landing-of.ts';

/** The merge of the child on its way is not met. */
const conflict = (play: EpicPlay, id: string, tree: string): string[] =>
  play.on(id).end({
    ...{ outcome: 'unmet', postcondition_met: false, merge_conflicts: ['src/api.ts'], detail: 'both changed it' },
    workspace_ref: ref(tree),
  });

describe('a verified child', () => {
  test('is merged into the ref of its epic, from its base, one at a time', () => {
    const play = splitInTwo();
    expect(play.good(API)).toEqual(['node_completed', 'node_ready']);
    const { run_kind, purpose, merge, workspace_ref, node } = play.on(API).ready;
    expect({ run_kind, purpose, merge, workspace_ref, node: node.id }).toEqual({
      ...{ run_kind: 'integrate', purpose: 'landing', workspace_ref: null, node: 'api' },
      merge: { epic: `${ROOT}.e1`, theirs: ref(`${API}#1`), base: null },
    });
    expect(isFree(play.state, play.epic())).toBe(false);
    expect(play.good(WEB)).toEqual(['node_completed']);
    expect(play.task(WEB)).toMatchObject({ status: 'open', current: null });
    expect(waitsToLand(play.state, play.task(WEB))).toBe(true);
  });

  test('H-T102 counts as done once its work stands there, and the next one is merged then', () => {
    const play = splitInTwo();
    play.good(API);
    play.good(WEB);
    expect(play.merged(API)).toEqual(['task_completed', 'affinity_changed', 'epic_child_resolved', 'node_ready']);
    expect(play.last('epic_child_resolved')).toMatchObject({ child: API, left: 1, outcome: 'satisfied' });
    expect(play.epic().ref).toEqual(ref(`${API}#2`));
    expect(play.on(WEB).ready).toMatchObject({ run_kind: 'integrate', workspace_ref: ref(`${API}#2`) });
  });

  test('is landed by runs that say nothing about the work', () => {
    expect((['normal', 'check', 'agent', 'integrate', 'deliver'] as const).filter(isLanding)).toEqual([
      'integrate',
      'deliver',
    ]);
  });

  test('is done in one append with what follows from it', () => {
    const play = splitInTwo();
    play.good(API);
    const turn = { now: play.now, mode: play.mode, askCondition, state: play.state };
    const { current: run, ...task } = play.task(API);
    if (run === null) throw new Error('nothing is merged');
    const facts = landed(turn, { task: { ...task, current: run }, run, result: play.on(API).result() });
    expect(facts.map(({ type }) => type)).toEqual(['task_completed', 'affinity_changed', 'epic_child_resolved']);
  });

  test('that changed nothing needs no merge', () => {
    const play = new EpicPlay();
    play.submit(taskSpec(two()));
    play.judge([], { workspace_ref: ref('accepted') });
    play.stall(ROOT).split(ROOT, [slice('api'), slice('web')]);
    expect(play.on(API).judge([], { workspace_ref: ref('accepted') })).toEqual([
      ...['node_completed', 'task_completed', 'affinity_changed', 'epic_child_resolved'],
    ]);
  });

  test('is checked by the last node that was done, not by one that was skipped', () => {
    const play = new EpicPlay();
    play.submit();
    const nodes = [nodeSpec({ id: 'made' }), nodeSpec({ id: 'maybe', if: 'false' })];
    play.stall(ROOT).split(ROOT, [slice('api', { nodes }), slice('web')]);
    expect(play.good(API)).toEqual(['node_completed', 'node_skipped', 'node_ready']);
    expect(play.on(API).ready).toMatchObject({ run_kind: 'integrate', node: { id: 'made' }, node_index: 0 });
    expect(play.merged(API)).toContain('task_completed');
  });

  test('begins with what its siblings have landed by its first run', () => {
    const play = splitInTwo();
    play.done(API);
    expect(play.task(WEB).baseRef).toBeNull();
    expect(play.epic().ref).toEqual(ref(`${API}#2`));
  });

  test('whose merge the machinery failed at is merged again, and nothing is counted', () => {
    const play = splitInTwo();
    play.good(API);
    expect(play.on(API).end({ outcome: 'faulted', fault_class: 'workspace' })).toEqual(['fault_recorded']);
    play.good(WEB);
    expect(play.task(WEB).current).toBeNull();
    expect(play.retry()).toEqual(['node_ready']);
    expect(play.on(API).ready).toMatchObject({ run_kind: 'integrate', merge: { theirs: ref(`${API}#1`) } });
    expect(play.task(API).conflicts).toBe(0);
  });

  test('whose merge could not be checked is merged again', () => {
    const play = splitInTwo();
    play.good(API);
    play.on(API).end({ outcome: 'indeterminate' });
    play.retry();
    expect(play.on(API).ready).toMatchObject({ run_kind: 'integrate', workspace_ref: null });
  });
});

describe('a merge that fails', () => {
  test('is the failure of the child: it runs again from the merge, and is told of its own version', () => {
    const play = splitInTwo();
    play.good(API);
    expect(conflict(play, API, 'merge')).toEqual(['integration_failed', 'node_ready']);
    expect(play.last('integration_failed')).toMatchObject({
      ...{ task: API, conflicts: 1, limit: 3, paths: ['src/api.ts'], own_ref: ref(`${API}#1`) },
      workspace_ref: ref('merge'),
    });
    const { run_kind, workspace_ref, brief } = play.on(API).ready;
    expect({ run_kind, workspace_ref }).toEqual({ run_kind: 'normal', workspace_ref: ref('merge') });
    expect(brief?.justifications[0]?.justification).toContain(ref(`${API}#1`).commit);
    expect(play.task(API).node.counters.execute).toBe(0);
  });

  test('moves the base of the child to what it was merged into', () => {
    const play = splitInTwo();
    play.done(WEB);
    play.good(API);
    conflict(play, API, 'merge');
    play.good(API);
    expect(play.on(API).ready.merge).toMatchObject({ base: ref(`${WEB}#2`), theirs: ref(`${API}#3`) });
  });

  test('lets a sibling that waits be merged meanwhile', () => {
    const play = splitInTwo();
    play.good(API);
    play.good(WEB);
    expect(conflict(play, API, 'merge')).toEqual(['integration_failed', 'node_ready', 'node_ready']);
    expect(play.on(WEB).ready.run_kind).toBe('integrate');
  });

  test('starts the child at its first node, whose counters go on where they stood', () => {
    const play = new EpicPlay();
    play.submit();
    play.stall(ROOT).split(ROOT, [slice('api', { nodes: two() }), slice('web')]);
    play.on(API).unmet('once');
    play.good(API);
    play.good(API);
    conflict(play, API, 'merge');
    expect(play.on(API).ready.node_index).toBe(0);
    expect(play.task(API).node.counters.execute).toBe(1);
  });

  test('is a human’s after as many as its mode lets it fail', () => {
    const play = splitInTwo(mode({ integrate: 2 }));
    play.good(API);
    conflict(play, API, 'one');
    play.good(API);
    expect(conflict(play, API, 'two')).toEqual(['integration_failed', 'human_required']);
    expect(play.last('human_required')).toMatchObject({ task: API, raw_halt_type: 'integrate', help: 'cannot_act' });
  });

  test('of a child that was split is recomposed there', () => {
    const play = splitInTwo();
    play.stall(API).split(API, [slice('a'), slice('b')]);
    play.done(`${API}.1`);
    play.done(`${API}.2`);
    expect(play.good(API)).toEqual(['node_completed', 'node_ready']);
    expect(conflict(play, API, 'merge')).toEqual(['integration_failed', 'recompose_started', 'node_ready']);
    expect(play.on(API).ready).toMatchObject({ purpose: 'recompose', workspace_ref: ref('merge') });
  });
});

describe('a result that is to be delivered', () => {
  const spec = {
    ...taskSpec([nodeSpec()]),
    workspace: { git: { url: 'https://git.example.org/shop.git', ref: 'main' }, keep: [] },
    deliver: { branch: 'fixpoint/done' },
  };
  const verified = (): EpicPlay => {
    const play = new EpicPlay();
    play.submit(spec);
    play.judge();
    return play;
  };

  test('B13 is brought there by a last run before the task is complete', () => {
    const play = verified();
    expect(play.ready).toMatchObject({
      run_kind: 'deliver',
      deliver: { git: { url: spec.workspace.git.url, branch: 'fixpoint/done' } },
      workspace_ref: ref(`${ROOT}#1`),
    });
    expect(play.judge()).toEqual(['task_completed']);
  });

  test('is checked by the last node that was done where the last one was skipped', () => {
    const play = new EpicPlay();
    play.submit({ ...spec, nodes: [nodeSpec({ id: 'made' }), nodeSpec({ id: 'maybe', if: 'false' })] });
    play.judge();
    expect(play.ready).toMatchObject({ run_kind: 'deliver', node: { id: 'made' }, node_index: 0 });
    expect(play.judge()).toEqual(['task_completed']);
  });

  test('and can not be is a human’s, and stays verified', () => {
    const play = verified();
    expect(play.end({ outcome: 'unmet', detail: 'the branch moved on' })).toEqual(['human_required']);
    expect(play.last('human_required')).toMatchObject({ raw_halt_type: 'deliver', detail: 'the branch moved on' });
    expect(play.root).toMatchObject({ status: 'open', landing: 'deliver', accepted: ref(`${ROOT}#1`) });
  });

  test('is complete undelivered once a human says that it is to stay so', () => {
    const play = verified();
    play.end({ outcome: 'unmet', detail: 'the branch moved on' });
    const decision: Decision = { kind: 'resolve', ref: null, exclude_children: [] };
    const facts = play.send({
      ...{ type: 'decide_handoff', handoff: `${ROOT}.h1`, version: 1, decisionId: 'd1', decision, nodes: null },
      ...{ actor: 'ada', authenticated: 'api_key', signature: 'a.b.c', comment: null, commentArtifact: null },
    });
    expect(facts).toEqual(['human_decided', 'task_completed']);
    expect(play.last('task_completed')).toMatchObject({ outcome: 'satisfied', workspace_ref: ref(`${ROOT}#1`) });
  });
});
