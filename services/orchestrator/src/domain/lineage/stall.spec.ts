import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, Play, ROOT, ref, SILENCE, taskSpec, verdict } from './lineage.fixture.ts';

const MODEL = 'model.smart';

const stalled = (play = new Play().submit()): Play => {
  for (const tree of ['a', 'b', 'c']) play.unmet(tree);
  return play;
};

describe('a stalled unit', () => {
  test('says that no agent was asked, and is checked once more on the accepted ref', () => {
    const play = stalled();
    expect(play.last('task_stalled').auto_agent).toEqual({ outcome: 'skipped', reason: 'no_model' });
    expect(play.ready).toMatchObject({ run_kind: 'check', purpose: 'met_meanwhile', workspace_ref: null });
  });

  test('is completed when it was met meanwhile and is judged good', () => {
    const play = stalled();
    expect(play.judge()).toEqual(['node_completed', 'task_completed']);
  });

  test('asks the council when it is not', () => {
    const play = stalled();
    expect(play.unmet()).toEqual(['run_counted', 'decomposition_requested']);
    expect(play.last('decomposition_requested')).toMatchObject({
      request: 1,
      intent: 'All is committed',
      budget: { children_left: 8, depth_left: 2 },
      halt_type: 'unmet',
      raw_halt_type: 'execute',
    });
  });

  test('asks the council when the judgement objects: nothing is repaired any more', () => {
    const play = stalled();
    expect(play.judge([verdict('lint')])).toEqual(['run_counted', 'decomposition_requested']);
  });

  test('is blocked by a halt even then', () => {
    expect(stalled().judge([], { outcome: 'halt' })).toEqual(['task_blocked']);
  });

  test('S-T64 is a human’s when it is not split, with both causes and ten ranks lower', () => {
    const play = stalled();
    play.unmet();
    expect(play.noSplit()).toEqual(['human_required', 'affinity_changed']);
    expect(play.last('human_required')).toMatchObject({
      task: ROOT,
      handoff: `${ROOT}.h1`,
      halt_type: 'unmet',
      raw_halt_type: 'execute',
      help: 'cannot_act',
      slice: { task: ROOT, node_id: 'commit' },
      tried: { runs: 4, fix_attempts: 0, rungs: ['recipe'], council: 'no_council', auto_agent: 'skipped: no_model' },
    });
    expect(play.last('affinity_changed')).toMatchObject({ from: 0, to: -10, reason: 'stalled' });
  });

  test('X29 never rises by a demotion', () => {
    const play = stalled(new Play().submit({ ...taskSpec(), priority: -5 }));
    play.unmet();
    play.noSplit();
    expect(play.last('affinity_changed')).toMatchObject({ from: -5, to: -15 });
  });

  test('is not checked again on a tree that was checked just now', () => {
    const play = new Play().submit(taskSpec([nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })]));
    play.judge([], { workspace_ref: ref('accepted') });
    play.unmet('accepted');
    expect(play.unmet('accepted')).toEqual(['run_counted', 'task_stalled', 'decomposition_requested']);
  });

  test('without a check of its own goes to the council at once', () => {
    const play = new Play().submit(taskSpec([nodeSpec({ postcondition: null })]));
    play.unmet('a');
    expect(play.unmet('a')).toEqual(['run_counted', 'task_stalled', 'decomposition_requested']);
  });

  test('with a gate as its node is checked by the gate’s own recipe', () => {
    const play = new Play().submit(taskSpec([nodeSpec({ kind: 'gate', postcondition: null })]));
    play.unmet('a');
    expect(play.unmet('a')).toEqual(['run_counted', 'task_stalled', 'node_ready']);
    expect(play.ready).toMatchObject({ run_kind: 'check', judges: null });
  });

  test('whose recovery ended drops what its fixes left', () => {
    const play = new Play().submit();
    play.judge([verdict('lint')], { workspace_ref: ref('x') });
    play.judge([], { workspace_ref: ref('fixed') });
    play.judge([verdict('lint')], { workspace_ref: ref('x') });
    expect(play.last('task_stalled')).toMatchObject({ counter: 'recovery', halt_type: 'recovery_stalled' });
    expect(play.ready).toMatchObject({ purpose: 'met_meanwhile', workspace_ref: null });
    expect(play.root.candidate).toBeNull();
  });

  test('tells the human what ended its recovery', () => {
    const play = new Play().submit();
    play.judge([verdict('ghost')]);
    play.unmet();
    play.noSplit();
    expect(play.last('human_required')).toMatchObject({ halt_type: 'recovery_exhausted', raw_halt_type: 'no_fix' });
  });
});

describe('the council', () => {
  const asked = (): Play => {
    const play = stalled();
    play.unmet();
    return play;
  };
  const giveUp = (play: Play, request: number) =>
    play.send({ type: 'give_up_request', task: ROOT, request, ...SILENCE });
  const requestDue = (play: Play, request: number) =>
    play.send({ type: 'timer_due', timer: { kind: 'request', task: ROOT, request } });

  test('that does not answer is asked anew, under a new number, after a back-off', () => {
    const play = asked();
    expect(giveUp(play, 1)).toEqual(['fault_recorded']);
    expect(play.last('fault_recorded')).toMatchObject({ phase: 'council', class: 'no_answer', next_run: null });
    expect(requestDue(play, 1)).toEqual(['decomposition_requested']);
    expect(play.last('decomposition_requested').request).toBe(2);
  });

  test('is waited for by a back-off of its own', () => {
    const play = stalled(new Play({ ...mode(), backoffs: { default: [1_000], council: [7_000] } }).submit());
    play.unmet();
    giveUp(play, 1);
    expect(play.last('fault_recorded').next_at).toBe('2026-01-01T00:00:07.000Z');
  });

  test('whose model refuses speaks of it, and takes nothing from its unit while that is paused', () => {
    const play = asked();
    const refusal = { class: 'rate_limit', retryAfterMs: 0, detail: '429', provider: MODEL } as const;
    const refused = (request: number) => play.send({ type: 'give_up_request', task: ROOT, request, ...refusal });
    refused(1);
    expect(play.last('fault_recorded')).toMatchObject({ provider: MODEL, count: 1, count_at_last_evidence: 0 });
    for (let request = 1; request <= 20; request += 1) {
      requestDue(play, request);
      play.admission = { room: true, paused: [MODEL] };
      expect(refused(request + 1)).toEqual(['fault_recorded']);
    }
    const last = play.last('fault_recorded');
    expect(last).toMatchObject({ provider: MODEL, count: 21, count_at_last_evidence: 20 });
    expect(Date.parse(last.next_at) - Date.parse(play.now)).toBe(4_000);
  });

  test('that answers late is not heard', () => {
    const play = asked();
    giveUp(play, 1);
    expect(play.noSplit(1)).toEqual([]);
    requestDue(play, 1);
    expect(play.noSplit(1)).toEqual([]);
    expect(play.noSplit(2)).toEqual(['human_required', 'affinity_changed']);
  });

  test('that never answers is the infrastructure’s', () => {
    const play = asked();
    for (let request = 1; request <= 5; request++) {
      expect(giveUp(play, request)).toEqual(['fault_recorded']);
      requestDue(play, request);
    }
    expect(giveUp(play, 6)).toEqual(['fault_recorded', 'human_required']);
    expect(play.last('human_required').help).toBe('infrastructure');
  });
});

describe('the iterations of a node', () => {
  test('end it when they are used up', () => {
    const play = new Play(mode({ iterations: 2, execute: 9 })).submit();
    expect(play.unmet('a')).toEqual(['run_counted', 'node_ready']);
    expect(play.unmet('b')).toEqual(['run_counted', 'task_stalled', 'decomposition_requested']);
    expect(play.last('task_stalled')).toMatchObject({ counter: 'iterations', limit: 2, used: 2 });
  });

  test.each([
    [49, false],
    [50, true],
  ])('are fifty: after %i the node has stalled: %s', (ended, hasStalled) => {
    const play = new Play(mode({ execute: 99 })).submit();
    for (let n = 1; n <= ended; n++) play.unmet(`tree ${n}`);
    expect(play.count('task_stalled') === 1).toBe(hasStalled);
  });

  test('of a fix end its closure', () => {
    const play = new Play(mode({ iterations: 1, max_recovery_depth: 9 })).submit();
    play.judge([verdict('format')]);
    play.judge([verdict('lint')]);
    play.judge();
    expect(play.last('recovery_exhausted')).toMatchObject({ reason: 'iterations', limit: 1, used: 1, asked: 2 });
  });
});
