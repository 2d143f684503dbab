import type { Decision } from '@fixpoint/contracts/human-decision';
import { describe, expect, test } from '@jest/globals';
import { API, EpicPlay, slice, splitInTwo, two, WEB } from './epics/epic.fixture.ts';
import { progressAt } from './evolve-ready.ts';
import { withGrants } from './granted.ts';
import { mode, nodeSpec, ROOT, ref, taskSpec, verdict } from './lineage.fixture.ts';

const RETRY: Decision = { kind: 'retry', from_node: null };
const RESOLVE: Decision = { kind: 'resolve', ref: null, exclude_children: [] };

/** What a human says to the open handoff of a unit. */
const decide = (play: EpicPlay, id: string, decision: Decision): string[] => {
  const handoff = play.unitOf(id).handoff;
  if (handoff === null) throw new Error(`${id} asks nobody`);
  return play.send({
    type: 'decide_handoff',
    ...{ handoff: handoff.id, version: handoff.version, decisionId: handoff.id, decision },
    nodes: decision.kind === 'amend' ? [nodeSpec({ recipe: { command: 'make it better' } })] : null,
    ...{ actor: 'ada', authenticated: 'api_key', signature: 'a.b.c', comment: null, commentArtifact: null },
  });
};

/** Counters of a node that are beyond its bounds, with all that humans added to them. */
const beyond = (play: EpicPlay, id: string): string[] => {
  const { counters, ...node } = play.task(id).node;
  const bounds = withGrants(play.mode.bounds, { node: { counters, ...node } });
  return (['execute', 'judge', 'iterations'] as const).filter((name) => counters[name] > bounds[name]);
};

const conflict = (play: EpicPlay, id: string): string[] =>
  play.on(id).end({ outcome: 'unmet', merge_conflicts: ['src/api.ts'], workspace_ref: ref(`${id} merge`) });

describe('a node that a child comes back to after a conflict', () => {
  /** Its only run was unmet, its check was met after all, and its merge conflicts. */
  const back = (): EpicPlay => {
    const play = splitInTwo(mode({ execute: 1 }));
    play.on(API).unmet('api 1');
    expect(play.on(API).ready).toMatchObject({ run_kind: 'check', purpose: 'met_meanwhile' });
    play.good(API);
    expect(conflict(play, API)).toEqual(['integration_failed', 'task_stalled', 'node_ready']);
    return play;
  };

  test('with its runs used up stalls there, and its check alone is asked of the merge', () => {
    const play = back();
    expect(play.last('task_stalled')).toMatchObject({
      task: API,
      counter: 'execute',
      used: 1,
      limit: 1,
      node_index: 0,
    });
    expect(play.on(API).ready).toMatchObject({ run_kind: 'check', workspace_ref: ref(`${API} merge`) });
  });

  test('goes on when that holds', () => {
    const play = back();
    expect(play.good(API)).toEqual(['node_completed', 'node_ready']);
    expect(play.on(API).ready.run_kind).toBe('integrate');
  });

  test('passes no bound when it does not, and goes the way of every stall', () => {
    const play = back();
    expect(play.on(API).unmet('api 2')).toEqual(['run_counted', 'decomposition_requested']);
    expect(beyond(play, API)).toEqual([]);
  });

  test('keeps what humans added to it', () => {
    const play = new EpicPlay(mode({ execute: 1 }));
    play.submit();
    play.stall(ROOT).split(ROOT, [slice('api', { nodes: two() }), slice('web')]);
    play.stall(API).noSplitOf(API);
    decide(play, API, RETRY);
    play.stall(API).noSplitOf(API);
    decide(play, API, RESOLVE);
    play.good(API);
    expect(play.task(API).nodeIndex).toBe(1);
    const { counters, granted } = progressAt(play.task(API), 0);
    expect([counters.execute, granted.execute]).toEqual([2, 1]);
    play.good(API);
    conflict(play, API);
    expect(play.task(API)).toMatchObject({ nodeIndex: 0, node: { counters, granted } });
    expect(beyond(play, API)).toEqual([]);
  });
});

describe('a retry from an earlier node', () => {
  test('is one more run of every node from there to where it stood still', () => {
    const play = new EpicPlay(mode({ execute: 1 }));
    play.submit(taskSpec(two()));
    play.good(ROOT);
    play.stall(ROOT).noSplitOf(ROOT);
    decide(play, ROOT, { kind: 'retry', from_node: 'one' });
    expect(play.good(ROOT)).toEqual(['node_completed', 'node_ready']);
    expect(play.on(ROOT).ready).toMatchObject({ run_kind: 'normal', node: { id: 'two' } });
    play.unmet('two again');
    expect(beyond(play, ROOT)).toEqual([]);
  });
});

describe('a unit whose iterations are used up when its children are done', () => {
  const proved = (): { play: EpicPlay; decided: string[] } => {
    const play = splitInTwo(mode({ iterations: 3 }));
    play.done(API);
    play.good(WEB);
    return { play, decided: play.merged(WEB) };
  };

  test('is with a human, lifted, and nothing has failed', () => {
    const { play, decided } = proved();
    expect(decided.slice(3)).toEqual(['recompose_started', 'affinity_changed', 'human_required']);
    expect(play.last('human_required')).toMatchObject({
      ...{ stage: 'recompose', raw_halt_type: 'iterations', halt_type: 'unmet', run_open: false },
      decisions: ['retry', 'resolve', 'extend', 'abandon'],
    });
    expect([play.epic().recompose.failed, play.unit.affinity]).toEqual([0, -5]);
  });

  test('is put together by the one run more of a retry, and passes no bound if that fails', () => {
    const { play } = proved();
    expect(decide(play, ROOT, RETRY)).toEqual([
      ...['human_decided', 'affinity_changed', 'recompose_started', 'node_ready'],
    ]);
    expect(play.on(ROOT).ready).toMatchObject({ purpose: 'recompose', workspace_ref: ref(`${WEB}#2`) });
    expect(play.unmet('x')).toEqual(['run_counted', 'recompose_failed', 'affinity_changed', 'human_required']);
    expect(play.last('recompose_failed').next_at).toBeNull();
    expect(beyond(play, ROOT)).toEqual([]);
  });

  test('is given more by whoever raises just that', () => {
    const { play } = proved();
    expect(() => decide(play, ROOT, { kind: 'extend', limits: { execute: 9 } })).toThrow(
      'limit_not_raised: iterations is used up (3 of 3): raise it too',
    );
    expect(decide(play, ROOT, { kind: 'extend', limits: { iterations: 5 } })).toContain('recompose_started');
    expect(play.on(ROOT).ready.purpose).toBe('recompose');
  });

  test('is tried again by itself as long as there is room, with what a human added', () => {
    const { play } = proved();
    decide(play, ROOT, { kind: 'extend', limits: { iterations: 5 } });
    play.on(ROOT).unmet('x');
    expect(play.last('recompose_failed').next_at).not.toBeNull();
    play.recomposeDue();
    play.unmet('y');
    expect(play.last('recompose_failed').next_at).toBeNull();
    expect(play.last('human_required').raw_halt_type).toBe('recompose');
  });

  test('at a later node is with a human there, and the one run more is that node’s', () => {
    const play = new EpicPlay(mode({ iterations: 2 }));
    play.submit(taskSpec(two()));
    play.good(ROOT);
    const stuck = (): void => {
      for (let run = 0; run < 2; run += 1) play.on(ROOT).unmet(`${ROOT}#1`);
    };
    stuck();
    play.noSplitOf(ROOT);
    decide(play, ROOT, { kind: 'retry', from_node: 'one' });
    stuck();
    play.split(ROOT, [slice('api'), slice('web')]);
    play.done(API);
    play.done(WEB);
    play.good(ROOT);
    // The retry gave either node one more; the second one has used it now.
    expect(play.unmet('x')).toContain('human_required');
    expect(play.last('recompose_failed').next_at).toBeNull();
    decide(play, ROOT, RETRY);
    play.good(ROOT);
    expect(play.on(ROOT).ready).toMatchObject({ purpose: 'next_node', node: { id: 'two' } });
    play.unmet('y');
    expect(beyond(play, ROOT)).toEqual([]);
  });
});

describe('what a human decides at the floor has room for all that it may come to', () => {
  const AMEND: Decision = { kind: 'amend', spec_hash: 'f'.repeat(64) };

  test.each([RETRY, RESOLVE, AMEND])('$kind, which is judged bad once more', (decision) => {
    const play = new EpicPlay(mode({ judge: 1 }));
    play.submit();
    play.judge([verdict('ghost')]);
    play.stall(ROOT).noSplitOf(ROOT);
    expect(play.root.node.counters.judge).toBe(1);
    decide(play, ROOT, decision);
    play.on(ROOT).judge([verdict('ghost')], { workspace_ref: ref('other') });
    expect(play.root.node.counters.judge).toBe(2);
    expect(beyond(play, ROOT)).toEqual([]);
  });
});

describe('a check that a human let through, of a node whose runs are used up', () => {
  /** Its only run was unmet, and the gate withheld the check of whether it is met meanwhile. */
  const approved = (): EpicPlay => {
    const play = new EpicPlay(mode({ execute: 1 }));
    play.submit().unmet('x');
    play.escalate();
    const { judged, verdicts } = play.last('human_required');
    if (judged === null) throw new Error('nothing was judged');
    const { run, phase, spec_hash, workspace_ref } = judged;
    const lifts = verdicts.map(({ validator, evidence_hash }) => ({ validator, evidence_hash }));
    const about = { task: ROOT, run, phase, spec_hash, tree: workspace_ref?.tree ?? null };
    decide(play, ROOT, { kind: 'approve', ...about, lifts });
    return play;
  };

  test('goes the way of every stall when it does not hold, and passes no bound', () => {
    const play = approved();
    expect(play.unmet('y').slice(0, 2)).toEqual(['run_counted', 'task_stalled']);
    expect(play.last('task_stalled')).toMatchObject({ counter: 'execute', used: 1, limit: 1 });
    play.stall(ROOT);
    expect(beyond(play, ROOT)).toEqual([]);
  });

  test('completes it when it holds', () => {
    expect(approved().judge()).toEqual(['node_completed', 'task_completed']);
  });
});
