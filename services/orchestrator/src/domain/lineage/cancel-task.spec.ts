import { given } from '@fixpoint/decider/given';
import { describe, expect, test } from '@jest/globals';
import { lineage } from './decide.ts';
import { mode, nodeSpec, Play, ROOT, taskSpec, verdict } from './lineage.fixture.ts';

const cancel = (play: Play, task = ROOT): string[] => play.send({ type: 'cancel_task', task, reason: 'not wanted' });

/** What a lineage can be doing when somebody cancels it. */
const DOING: readonly (readonly [string, () => Play])[] = [
  ['runs', () => new Play().submit()],
  [
    'waits for a back-off',
    () => {
      const play = new Play().submit();
      play.end({ outcome: 'faulted', fault_class: 'network' });
      return play;
    },
  ],
  [
    'waits for a fix',
    () => {
      const play = new Play().submit();
      play.judge([verdict('lint')]);
      return play;
    },
  ],
  [
    'waits for the council',
    () => {
      const play = new Play(mode({ execute: 1 })).submit(taskSpec([nodeSpec({ postcondition: null })]));
      play.unmet();
      return play;
    },
  ],
  [
    'waits for a human',
    () => {
      const play = new Play().submit();
      play.escalate();
      return play;
    },
  ],
];

type Sent = Parameters<Play['send']>[0];

/** All that may still come for what the lineage was doing. */
const lateAnswers = (play: Play): Sent[] => {
  const root = play.root;
  const council = { root: ROOT, task: ROOT, address: '0', request: play.unit.request.number };
  const timers: Sent[] = [
    { type: 'timer_due', timer: { kind: 'retry', task: ROOT, run: root.retry?.after ?? 1 } },
    { type: 'timer_due', timer: { kind: 'request', task: ROOT, request: council.request } },
    { type: 'give_up_request', task: ROOT, request: council.request, class: 'no_answer', retryAfterMs: 0, detail: '' },
  ];
  if (!Object.values(play.state.tasks).some(({ current }) => current !== null)) return timers;
  const result = play.result();
  return [
    ...timers,
    { type: 'end_run', result: { ...result, outcome: 'unmet' } },
    { type: 'judge_run', judgement: play.judgement([]), result },
    { type: 'regate_run', task: result.task, run: result.run, detail: '' },
  ];
};

test('I-T41 a cancel while a retry waits: the retry that is due later starts nothing', () => {
  const play = new Play().submit();
  play.end({ outcome: 'faulted', fault_class: 'network' });
  const timer = { kind: 'retry' as const, task: ROOT, run: 1 };
  cancel(play);
  expect(play.send({ type: 'timer_due', timer })).toEqual([]);
  expect(play.root).toMatchObject({ status: 'cancelled', current: null, retry: null });
});

describe('cancel of a lineage that', () => {
  test.each(DOING)('%s ends it with all that is below it', (_, start) => {
    const play = start();
    const runs = Object.values(play.state.tasks).flatMap(({ id, current }) =>
      current ? [{ task: id, run: current.run }] : [],
    );
    const below = Object.keys(play.state.tasks).filter((id) => id !== ROOT);
    const withHuman = play.unit.handoff !== null;
    expect(cancel(play)).toEqual(['task_cancelled', ...(withHuman ? ['handoff_withdrawn'] : [])]);
    expect(play.last('task_cancelled')).toEqual({
      ...{ root: ROOT, task: ROOT, address: '0', reason: 'not wanted' },
      ended_tasks: below,
      stopped_runs: runs,
    });
    for (const task of Object.values(play.state.tasks)) expect([task.current, task.retry]).toEqual([null, null]);
    expect(play.unit).toMatchObject({ handoff: null, request: { open: false, retryAt: null } });
  });

  test.each(DOING)('B9 %s is over: no answer to it, and no timer, does anything', (_, start) => {
    const play = start();
    const late = lateAnswers(play);
    cancel(play);
    for (const answer of late) expect(play.send(answer)).toEqual([]);
    expect(play.deadline()).toEqual([]);
  });

  test.each(DOING)('%s is said once, however often it is asked', (_, start) => {
    const play = start();
    cancel(play);
    expect(cancel(play)).toEqual([]);
  });
});

describe('cancel', () => {
  test('refuses what is not there, what is over, and a fix, which belongs to its unit', () => {
    const play = new Play().submit();
    expect(() => cancel(play, 'r1.9')).toThrow('task_unknown');
    play.judge([verdict('lint')]);
    expect(() => cancel(play, play.ready.task)).toThrow('task_not_a_unit');
    const done = new Play().submit();
    done.judge();
    expect(() => cancel(done)).toThrow('task_already_ended');
    given(lineage)
      .when({
        type: 'cancel_task',
        task: ROOT,
        reason: '',
        now: play.now,
        mode: play.mode,
        askCondition: () => ({ holds: true }),
      })
      .thenRefused('lineage_unknown');
  });
});
