import { describe, expect, test } from '@jest/globals';
import type { FaultRun } from './commands.ts';
import { mode, nodeSpec, Play, ROOT, ref, taskSpec, verdict } from './lineage.fixture.ts';

const fault = (play: Play, more: Partial<FaultRun> = {}): string[] =>
  play.send({
    type: 'fault_run',
    task: play.ready.task,
    run: play.ready.run,
    phase: 'gate',
    class: 'network',
    retryAfterMs: 0,
    detail: 'refused',
    result: null,
    effects: 'none',
    ...more,
  });

describe('X01 a fault', () => {
  test('is no attempt and no demotion', () => {
    const play = new Play().submit();
    expect(play.end({ outcome: 'faulted', fault_class: 'lost_executor', workspace_ref: null })).toEqual([
      'fault_recorded',
    ]);
    expect(play.root.node.counters).toEqual({ execute: 0, judge: 0, iterations: 0, indeterminate: 0 });
    expect(play.count('affinity_changed')).toBe(0);
  });

  test('is followed by the same kind of run from where it started, when its time has come', () => {
    const play = new Play().submit(taskSpec([nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })]));
    play.judge([], { workspace_ref: ref('accepted') });
    play.end({ outcome: 'faulted', fault_class: 'disk', workspace_ref: ref('half done') });
    expect(play.retry()).toEqual(['node_ready']);
    expect(play.ready).toMatchObject({
      run: 3,
      run_kind: 'normal',
      purpose: 'after_fault',
      workspace_ref: ref('accepted'),
    });
  });

  test('waits longer each time, and at least as long as it was told', () => {
    const play = new Play().submit();
    const waits = [0, 0, 0, 0, 9_000].map((retryAfterMs) => {
      fault(play, { retryAfterMs });
      const { next_at } = play.last('fault_recorded');
      play.retry();
      return Date.parse(next_at) - Date.parse(play.now);
    });
    expect(waits).toEqual([1_000, 2_000, 4_000, 4_000, 9_000]);
  });

  test('is the infrastructure’s when its class has used up its cap', () => {
    const play = new Play().submit();
    for (let n = 1; n <= 5; n++) {
      expect(fault(play)).toEqual(['fault_recorded']);
      play.retry();
    }
    expect(fault(play)).toEqual(['fault_recorded', 'human_required']);
    expect(play.last('fault_recorded')).toMatchObject({ count: 6, count_at_last_evidence: 0 });
    expect(play.last('human_required')).toMatchObject({ help: 'infrastructure', raw_halt_type: 'network' });
    expect(play.retry()).toEqual([]);
  });

  test('that is certain goes to a human at once, who has to change the task', () => {
    const play = new Play().submit();
    expect(fault(play, { class: 'source' })).toEqual(['fault_recorded', 'human_required']);
    expect(play.last('human_required')).toMatchObject({ help: 'cannot_act', raw_halt_type: 'source' });
    expect(play.last('human_required').decisions).toContain('amend');
    expect(play.retry()).toEqual([]);
  });

  test('of one class does not count towards another', () => {
    const play = new Play(mode({ faults: 1 })).submit();
    fault(play, { class: 'network' });
    play.retry();
    expect(fault(play, { class: 'disk' })).toEqual(['fault_recorded']);
  });

  test('counts anew after evidence, and its total never falls', () => {
    const play = new Play(mode({ faults: 1 })).submit();
    fault(play);
    play.retry();
    play.unmet();
    expect(fault(play)).toEqual(['fault_recorded']);
    expect(play.last('fault_recorded')).toMatchObject({ count: 2, count_at_last_evidence: 1 });
  });

  test('S-T70 of a judge is no verdict: it is followed by a check of the result, and never by doing the work again', () => {
    const play = new Play().submit();
    const result = play.result({ workspace_ref: ref('done'), output: 'said' });
    fault(play, { phase: 'judge', result });
    play.retry();
    expect(play.ready).toMatchObject({ run_kind: 'check', workspace_ref: ref('done'), judges: null });
    play.judge();
    expect(play.last('task_completed').output).toBe('said');
  });

  test('of a judge of a node without a check lets that run be judged again', () => {
    const play = new Play().submit(taskSpec([nodeSpec({ postcondition: null })]));
    fault(play, { phase: 'judge', result: play.result() });
    play.retry();
    expect(play.ready).toMatchObject({ run_kind: 'check', judges: 1 });
  });

  test('without an answer after the start is followed by a check: it may have had effects', () => {
    const play = new Play().submit();
    fault(play, { phase: 'action', class: 'no_answer', effects: 'possible' });
    play.retry();
    expect(play.ready).toMatchObject({ run_kind: 'check', purpose: 'after_fault' });
    play.unmet();
    expect(play.ready).toMatchObject({ run_kind: 'normal' });
  });

  test('S-T06 inside a fix is no outcome and costs the closure nothing', () => {
    const play = new Play().submit();
    play.judge([verdict('lint')]);
    fault(play, { phase: 'action' });
    play.retry();
    expect(play.ready).toMatchObject({ task: `${ROOT}.f1`, run: 2, run_kind: 'normal' });
    expect(play.unit.fixAttempts).toBe(1);
  });

  test('of a run that was stopped is a shutdown', () => {
    const play = new Play().submit();
    play.end({ outcome: 'cancelled' });
    expect(play.last('fault_recorded').class).toBe('shutdown');
  });
});

const notBegun = (play: Play): string[] =>
  play.send({ type: 'regate_run', task: play.ready.task, run: play.ready.run, detail: 'nobody came' });

describe('a run that nobody had begun when its time was over', () => {
  test('is gated anew as it was, and counts nowhere', () => {
    const play = new Play().submit();
    play.unmet();
    expect(notBegun(play)).toEqual(['node_ready']);
    expect(play.ready).toMatchObject({ run: 3, run_kind: 'normal', purpose: 'regate' });
    expect(play.unit.faults).toEqual({});
    expect(play.root.node.counters).toMatchObject({ execute: 1, iterations: 1 });
  });

  test('is a fault without effects when that lasts, together with tokens that expired', () => {
    const play = new Play().submit();
    for (let n = 1; n <= 12; n += 1) expect([notBegun(play), play.refuse('token_expired')].flat()).toHaveLength(2);
    expect(notBegun(play)).toEqual(['fault_recorded']);
    expect(play.last('fault_recorded')).toMatchObject({ class: 'no_answer', phase: 'gate', detail: 'nobody came' });
    play.retry();
    expect(play.ready).toMatchObject({ run_kind: 'normal', purpose: 'after_fault' });
  });

  test('is a fault at once where a reader has given an event up: that is no queue', () => {
    const play = new Play().submit();
    play.letter();
    expect(notBegun(play)).toEqual(['fault_recorded']);
  });

  test('is not gated twice when told twice', () => {
    const play = new Play().submit();
    const { task, run } = play.ready;
    notBegun(play);
    expect(play.send({ type: 'regate_run', task, run, detail: '' })).toEqual([]);
  });
});

describe('a dead letter', () => {
  test('S-T01 tells a human, resolves nothing, and takes an answer that still comes', () => {
    const play = new Play().submit();
    expect(play.letter()).toEqual(['human_required']);
    expect(play.last('human_required')).toMatchObject({
      help: 'infrastructure',
      raw_halt_type: 'dead_letter',
      run_open: true,
    });
    expect(play.judge()).toEqual(['node_completed', 'task_completed', 'handoff_withdrawn']);
  });

  test('is told once, also of the next run’s event, and one of another kind is added to the open handoff', () => {
    const play = new Play().submit();
    play.letter();
    expect(play.letter({ deliveries: 9 })).toEqual([]);
    expect(play.letter({ event_id: 'e2', run: 2, reason: 'unreadable: e2' })).toEqual([]);
    expect(play.letter({ event_id: 'e3', event_type: 'governance_passed' })).toEqual(['handoff_updated']);
    expect(play.last('handoff_updated').handoff).toBe(`${ROOT}.h1`);
  });

  test('while a fix runs leaves the fix running', () => {
    const play = new Play().submit();
    play.judge([verdict('lint')]);
    play.letter({ task: null });
    expect(play.judge()).toEqual(['node_completed', 'task_completed', 'node_ready']);
  });

  test('leaves what waits for its time waiting', () => {
    const play = new Play().submit();
    fault(play);
    play.letter();
    expect(play.retry()).toEqual(['node_ready']);
  });

  test('of a lineage that has ended says nothing', () => {
    const play = new Play().submit();
    play.judge();
    expect(play.letter()).toEqual([]);
  });

  test('does not keep a blocked task’s handoff open', () => {
    const play = new Play().submit();
    play.letter();
    expect(play.gate('halt')).toEqual(['task_blocked', 'handoff_withdrawn']);
  });
});
