import { describe, expect, test } from '@jest/globals';
import { API, type EpicPlay, splitInTwo, WEB } from './epics/epic.fixture.ts';
import { mode, nodeSpec, Play, ROOT, SILENCE, taskSpec, verdict } from './lineage.fixture.ts';

describe('the deadline', () => {
  test('stands in the submission', () => {
    expect(new Play().submit().last('task_submitted').deadline_at).toBe('2026-01-01T01:00:00.000Z');
  });

  test('bounds what a run may take', () => {
    const play = new Play(mode({ deadline_ms: 90_000 })).submit();
    expect(play.ready.allowance.time_ms).toBe(60_000);
    play.now = '2026-01-01T00:01:00.000Z';
    play.unmet();
    expect(play.ready.allowance.time_ms).toBe(30_000);
  });

  test('asks for more time when nothing is in flight', () => {
    const play = new Play().submit();
    play.refuse('token_invalid');
    expect(play.deadline()).toEqual(['deadline_passed', 'human_required']);
    expect(play.last('human_required')).toMatchObject({
      help: 'budget',
      halt_type: 'budget',
      raw_halt_type: 'deadline',
    });
    expect(play.retry()).toEqual(['node_queued']);
  });

  test('lets what is in flight end, and starts nothing after it', () => {
    const play = new Play().submit();
    expect(play.deadline()).toEqual(['deadline_passed']);
    expect(play.unmet()).toEqual(['run_counted', 'node_queued', 'human_required']);
    expect(play.last('node_queued').queued_for).toBe('budget');
    expect(play.send({ type: 'start_queued', task: ROOT, run: 2 })).toEqual([]);
    expect(play.last('human_required').help).toBe('budget');
  });

  test.each([
    ['the next node', (play: Play) => play.judge(), ['node_completed', 'node_queued', 'human_required']],
    [
      'a fix',
      (play: Play) => play.judge([verdict('lint')]),
      ['run_counted', 'subtask_spawned', 'node_queued', 'human_required'],
    ],
    ['a retry', (play: Play) => play.refuse('token_invalid'), ['fault_recorded', 'human_required']],
    ['the same run, gated anew', (play: Play) => play.refuse('token_expired'), ['node_queued', 'human_required']],
  ])('never starts %s', (_name, answer, facts) => {
    const play = new Play().submit(taskSpec([nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })]));
    play.deadline();
    expect(answer(play)).toEqual(facts);
  });

  test('takes a good end that comes after it', () => {
    const play = new Play().submit();
    play.deadline();
    expect(play.judge()).toEqual(['node_completed', 'task_completed']);
  });

  test('is added to a handoff that is open', () => {
    const play = new Play().submit();
    play.escalate();
    expect(play.deadline()).toEqual(['deadline_passed', 'handoff_updated']);
  });

  test('passes once, and not after the end', () => {
    const play = new Play().submit();
    play.deadline();
    expect(play.deadline()).toEqual([]);
    const ended = new Play().submit();
    ended.judge();
    expect(ended.deadline()).toEqual([]);
  });
});

/** A human gives more time. */
const extend = (play: Play, days = 3): string[] =>
  play.send({
    type: 'decide_handoff',
    ...{ handoff: play.unit.handoff?.id ?? '', version: play.unit.handoff?.version ?? 1, decisionId: 'd1' },
    ...{
      decision: { kind: 'extend', limits: { deadline_ms: days * 86_400_000 } },
      nodes: null,
      actor: 'ada',
      authenticated: 'api_key',
      signature: 'a.b.c',
    },
    ...{ comment: null, commentArtifact: null },
  });

describe('more time', () => {
  const late = (): EpicPlay => {
    const play = splitInTwo();
    play.deadline();
    return play;
  };

  test('is asked for once, and lets each child go on where its answer had left it', () => {
    const play = late();
    expect(play.on(API).unmet('a')).toEqual(['run_counted', 'node_queued', 'human_required']);
    expect(play.on(WEB).judge([verdict('lint')])).toEqual(['run_counted', 'subtask_spawned', 'node_queued']);
    expect(extend(play).filter((type) => type === 'node_ready').length).toBe(2);
    expect(play.task(API).node.counters.execute).toBe(1);
    expect(play.task(API).current).toMatchObject({ run: 2, kind: 'normal' });
    expect(play.task(`${WEB}.f1`).current).toMatchObject({ run: 1 });
  });

  test('takes up a back-off of a child that was over meanwhile, from the same place', () => {
    const play = late();
    play.on(API).end({ outcome: 'indeterminate' });
    expect(play.retry()).toEqual(['node_queued']);
    expect(extend(play)).toContain('node_ready');
    expect(play.task(API).current).toMatchObject({ kind: 'check' });
  });

  test('leaves a back-off that is not over to its timer', () => {
    const play = new Play().submit();
    play.end({ outcome: 'indeterminate' });
    play.deadline();
    expect(extend(play)).toEqual(['human_decided', 'budget_extended']);
    expect(play.retry()).toEqual(['node_ready']);
  });

  test('asks the council whose time came when there was none', () => {
    const play = late();
    play.stall(API);
    extend(play, 2);
    play.stall(API);
    play.send({ type: 'give_up_request', task: API, request: 1, ...SILENCE });
    play.deadline();
    const due = { kind: 'request', task: API, request: 1 } as const;
    expect(play.send({ type: 'timer_due', timer: due })).toEqual(['human_required']);
    play.now = play.unitOf(API).request.retryAt ?? play.now;
    expect(extend(play)).toContain('decomposition_requested');
  });

  test('starts no more than there is room for', () => {
    const play = new Play().submit();
    play.deadline();
    play.unmet();
    play.admission = { room: false, paused: [] };
    expect(extend(play)).toEqual(['human_decided', 'budget_extended', 'node_queued']);
    expect(play.last('node_queued')).toMatchObject({ run: 2, queued_for: 'window' });
    expect(play.unit.runs).toBe(2);
  });
});
