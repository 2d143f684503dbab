import { contentHash } from '@fixpoint/contracts/content-hash';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import { Refused } from '@fixpoint/decider/refused';
import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, ROOT, ref, taskSpec, verdict } from '../lineage.fixture.ts';
import { CHILDREN_VARIABLE } from './children-results.ts';
import { API, EpicPlay, slice, two, WEB } from './epic.fixture.ts';
import { submittedBy } from './submit-child.ts';

const running = (bounds: Parameters<typeof mode>[0] = {}, spec = taskSpec(two())): EpicPlay => {
  const play = new EpicPlay(mode(bounds));
  play.submit(spec);
  return play;
};
const work = (name: string): TaskSpec => ({ ...taskSpec([nodeSpec({ id: name })]), name });
const submit = (play: EpicPlay, id: string, key: string, spec = work(key)): string[] => {
  const { run } = play.on(id).ready;
  return play.send({ type: 'submit_child', task: id, run, key, spec, specHash: contentHash(spec) });
};
const codeOf = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    if (error instanceof Refused) return error.code;
    throw error;
  }
  return 'taken';
};

describe('work that a run submits', () => {
  test('C5 is a child of its unit, in its scope, with the depth and the budget of the lineage', () => {
    const play = running();
    expect(submit(play, ROOT, 'docs')).toEqual(['child_submitted', 'node_ready']);
    expect(play.task(API)).toMatchObject({ kind: 'child', parent: ROOT, splitDepth: 1, epic: null });
    expect(play.on(API).ready.scope).toEqual(play.state.scope);
    expect(play.state.childrenUsed).toBe(1);
    expect(play.root).toMatchObject({ status: 'open', epic: null });
  });

  test('is found again by its key, by every run of the node', () => {
    const play = running();
    submit(play, ROOT, 'docs');
    expect(submit(play, ROOT, 'docs')).toEqual([]);
    play.unmet('x');
    expect(submit(play, ROOT, 'docs')).toEqual([]);
    expect(play.state.childrenUsed).toBe(1);
    expect(codeOf(() => submit(play, ROOT, 'docs', work('other')))).toBe('idempotency_key_reused');
    expect(submittedBy(play.state, play.root, 'docs')?.id).toBe(API);
  });

  test('keeps the next node waiting, and not the run itself', () => {
    const play = running();
    submit(play, ROOT, 'docs');
    expect(play.good(ROOT)).toEqual(['node_completed']);
    expect(play.good(API)).toEqual([
      ...['node_completed', 'task_completed', 'affinity_changed', 'epic_child_resolved', 'node_ready'],
    ]);
    expect(play.on(ROOT).ready).toMatchObject({ node_index: 1, workspace_ref: ref(`${ROOT}#1`) });
    expect(JSON.parse(play.ready.node.env[CHILDREN_VARIABLE] ?? '')).toMatchObject([{ task: API, name: 'docs' }]);
  });

  test('that is done first holds nothing up', () => {
    const play = running();
    submit(play, ROOT, 'docs');
    play.good(API);
    expect(play.good(ROOT)).toEqual(['node_completed', 'node_ready']);
  });

  test('keeps the unit from completing', () => {
    const play = running({}, taskSpec());
    submit(play, ROOT, 'docs');
    expect(play.good(ROOT)).toEqual(['node_completed']);
    expect(play.good(API)).toContain('task_completed');
    expect(play.root.status).toBe('completed');
  });

  test('holds up no other try of the node that submitted it, which a human may ask for', () => {
    const play = running({ execute: 1, auto_agent_max_attempts: 0 }, taskSpec());
    submit(play, ROOT, 'docs');
    play.on(ROOT).unmet('x');
    play.on(ROOT).unmet('x');
    play.noSplitOf(ROOT);
    const handoff = play.unitOf(ROOT).handoff;
    const decision = { kind: 'retry', from_node: null } as const;
    const facts = play.send({
      ...{
        type: 'decide_handoff',
        handoff: handoff?.id ?? '',
        version: handoff?.version ?? 0,
        decisionId: 'd1',
        decision,
      },
      ...{
        nodes: null,
        actor: 'ada',
        authenticated: 'api_key',
        signature: 'a.b.c',
        comment: null,
        commentArtifact: null,
      },
    });
    expect(facts).toEqual(['human_decided', 'affinity_changed', 'node_ready']);
    expect(play.on(ROOT).ready).toMatchObject({ run_kind: 'normal', node_index: 0 });
    expect(play.good(ROOT)).toEqual(['node_completed']);
    expect(play.good(API)).toEqual(expect.arrayContaining(['epic_child_resolved', 'task_completed']));
  });

  test('is not merged: its ref is data', () => {
    const play = running({}, taskSpec());
    submit(play, ROOT, 'docs');
    play.good(API);
    expect(play.last('epic_child_resolved')).toMatchObject({ epic: null, epic_ref: null });
  });

  test('by a fix belongs to the unit', () => {
    const play = running({}, taskSpec());
    play.judge([verdict('lint')]);
    submit(play, `${ROOT}.f1`, 'docs');
    expect(play.last('child_submitted')).toMatchObject({ task: ROOT, from_task: `${ROOT}.f1` });
    play.good(`${ROOT}.f1`);
    expect(play.good(ROOT)).toEqual(['node_completed', 'recovery_resolved']);
    expect(play.good(API)).toContain('task_completed');
  });

  test('does not use up the split of its unit', () => {
    const play = running({}, taskSpec());
    submit(play, ROOT, 'docs');
    play.stall(ROOT);
    expect(play.split(ROOT, [slice('a'), slice('b')])[0]).toBe('epic_opened');
    expect(play.last('epic_opened').children.map(({ address }) => address)).toEqual(['0.2', '0.3']);
    play.done(WEB);
    play.done(`${ROOT}.3`);
    expect(play.good(ROOT)).toEqual(['node_completed']);
    expect(play.good(API)).toContain('epic_closed');
  });

  test('that is blocked holds its unit, and a human has the choice', () => {
    const play = running();
    submit(play, ROOT, 'docs');
    play.on(API).gate('halt');
    expect(play.last('human_required')).toMatchObject({ task: ROOT, raw_halt_type: 'epic_held', run_open: true });
    expect(play.good(ROOT)).toEqual(['node_completed']);
  });
});

describe('work that is refused', () => {
  test('C6 is what is beyond the budget of children', () => {
    const play = running({ max_total_decomposition_children: 1 });
    expect(codeOf(() => submit(play, ROOT, 'one'))).toBe('taken');
    expect(codeOf(() => submit(play, ROOT, 'two'))).toBe('no_children_left');
  });

  test('is what is too deep', () => {
    const play = running({ max_decomposition_depth: 1 });
    submit(play, ROOT, 'one');
    expect(codeOf(() => submit(play, API, 'two'))).toBe('no_depth_left');
  });

  test('is what another run or another scope says', () => {
    const play = running();
    const { run } = play.ready;
    const spec = work('one');
    const command = { type: 'submit_child', task: ROOT, key: 'k', spec, specHash: contentHash(spec) } as const;
    expect(codeOf(() => play.send({ ...command, run: run + 1 }))).toBe('run_not_in_flight');
    expect(codeOf(() => submit(play, ROOT, 'k', { ...spec, project: 'other' }))).toBe('scope_of_lineage');
    const git = { url: 'https://git.example.org/other.git', ref: 'main' };
    expect(codeOf(() => submit(play, ROOT, 'k', { ...spec, workspace: { git, keep: [] } }))).toBe(
      'workspace_of_lineage',
    );
  });
});
