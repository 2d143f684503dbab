import { describe, expect, test } from '@jest/globals';
import { HASH, mode, nodeSpec, Play, ref, taskSpec, verdict } from './lineage.fixture.ts';

const two = [nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })];

describe('a submitted task', () => {
  test('starts its first node', () => {
    const play = new Play().submit();
    expect(play.facts.map((fact) => fact.type)).toEqual(['task_submitted', 'node_ready']);
    expect(play.ready).toMatchObject({
      run: 1,
      run_kind: 'normal',
      purpose: 'first',
      workspace_ref: null,
      judges: null,
    });
  });

  test('S-T22 may recover three deep and ten times by default', () => {
    const { bounds } = mode();
    expect([bounds.max_recovery_depth, bounds.max_total_fix_attempts]).toEqual([3, 10]);
  });

  test('S-T05 S-T21 is completed by a good judgement of its last node, and by nothing else', () => {
    const play = new Play().submit(taskSpec(two));
    expect(play.end()).toEqual([]);
    expect(play.judge()).toEqual(['node_completed', 'node_ready']);
    expect(play.ready).toMatchObject({ run: 2, purpose: 'next_node', node_index: 1, last_node: true });
    expect(play.end({ output: { n: 1 } })).toEqual([]);
    expect(play.judge([], {}, { output: { n: 1 } })).toEqual(['node_completed', 'task_completed']);
    expect(play.last('task_completed')).toMatchObject({
      outcome: 'satisfied',
      output: { n: 1 },
      runs: 2,
      fix_attempts: 0,
    });
  });

  test('S-T66 that passes at once has used one run', () => {
    const play = new Play().submit();
    play.judge();
    expect(play.last('task_completed').runs).toBe(1);
  });

  test('S-T65 leaves its result, as artifact where it is large', () => {
    const play = new Play().submit();
    play.judge([], {}, { output: null, output_artifact: HASH });
    expect(play.last('task_completed')).toMatchObject({ output: null, output_artifact: HASH });
  });

  test('starts the next node from what the last one left', () => {
    const play = new Play().submit(taskSpec(two));
    play.judge([], { workspace_ref: ref('done') });
    expect(play.ready.workspace_ref).toEqual(ref('done'));
  });

  test('is degraded when one of its nodes is', () => {
    const play = new Play().submit(taskSpec(two));
    play.judge([], {}, { outcome: 'degraded' });
    play.judge();
    expect(play.last('task_completed').outcome).toBe('degraded');
  });

  test('X18 S-T02 S-T04 a run without evidence completes nothing', () => {
    const play = new Play().submit();
    expect(play.end({ outcome: 'indeterminate', postcondition_met: null })).toEqual(['run_counted']);
    expect(play.count('node_completed')).toBe(0);
  });
});

describe('a run that ends unmet', () => {
  test('runs again from the accepted ref, until execute is used up', () => {
    const play = new Play().submit();
    expect(play.unmet()).toEqual(['run_counted', 'node_ready']);
    expect(play.ready).toMatchObject({ run: 2, purpose: 'again', run_kind: 'normal', workspace_ref: null });
    expect(play.unmet()).toEqual(['run_counted', 'node_ready']);
    expect(play.unmet()).toEqual(['run_counted', 'task_stalled', 'node_ready']);
    expect(play.last('task_stalled')).toMatchObject({ counter: 'execute', limit: 3, used: 3, halt_type: 'unmet' });
  });

  test('C10 X28 S-T61 I-T30 is not repeated when tree, exit code and recipe were the same before', () => {
    const play = new Play().submit();
    play.unmet('same');
    expect(play.unmet('same')).toEqual(['run_counted', 'task_stalled', 'node_ready']);
    expect(play.last('task_stalled')).toMatchObject({ raw_halt_type: 'no_progress', used: 2 });
  });

  test('I-T29 and is met the next time completes its node; the machinery retries nothing', () => {
    const play = new Play().submit();
    play.unmet('first');
    expect(play.judge()).toEqual(['node_completed', 'task_completed']);
    expect([play.last('run_counted').counters.execute, play.count('fault_recorded')]).toEqual([1, 0]);
  });

  test.each([
    ['tree', { workspace_ref: ref('other') }],
    ['exit code', { exit_code: 2 }],
    ['recipe', { recipe_hash: 'b'.repeat(64) }],
  ])('is repeated when the %s differs', (_what, change) => {
    const play = new Play().submit();
    play.unmet('same');
    const result = { outcome: 'unmet', workspace_ref: ref('same'), ...change } as const;
    expect(play.end(result)).toEqual(['run_counted', 'node_ready']);
  });

  test('without a tree says nothing about progress', () => {
    const play = new Play().submit();
    play.end({ outcome: 'unmet', workspace_ref: null });
    expect(play.end({ outcome: 'unmet', workspace_ref: null })).toEqual(['run_counted', 'node_ready']);
  });

  test('S-T67 counts in absolute numbers, in order', () => {
    const play = new Play().submit();
    play.unmet();
    play.unmet();
    const counted = play.facts.flatMap((fact) => (fact.type === 'run_counted' ? [fact.data.counters] : []));
    expect(counted.map(({ execute, iterations }) => [execute, iterations])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  test('starts counting anew with the next node', () => {
    const play = new Play().submit(taskSpec(two));
    play.unmet();
    play.judge();
    expect(play.root.node.counters).toEqual({ execute: 0, judge: 0, iterations: 0, indeterminate: 0 });
  });
});

describe('a check that could not run', () => {
  const indeterminate = (play: Play) => play.end({ outcome: 'indeterminate', workspace_ref: ref('left') });

  test('X18 is tried again on what the run left, after a back-off', () => {
    const play = new Play().submit();
    indeterminate(play);
    expect(play.last('run_counted').next_at).toBe('2026-01-01T00:00:01.000Z');
    expect(play.retry()).toEqual(['node_ready']);
    expect(play.ready).toMatchObject({ run_kind: 'check', purpose: 'check_again', workspace_ref: ref('left') });
  });

  test.each([1, 2, 3])('is tried again for the %i. time', (times) => {
    const play = new Play().submit();
    for (let n = 1; n < times; n++) {
      indeterminate(play);
      play.retry();
    }
    expect(indeterminate(play)).toEqual(['run_counted']);
  });

  test('is a human’s after three tries', () => {
    const play = new Play().submit();
    for (let n = 1; n <= 3; n++) {
      indeterminate(play);
      play.retry();
    }
    expect(indeterminate(play)).toEqual(['run_counted', 'human_required']);
    expect(play.last('human_required')).toMatchObject({ help: 'infrastructure', halt_type: 'environment_error' });
    expect(play.count('affinity_changed')).toBe(0);
  });

  test('that then says unmet lets the work be done, and is no attempt', () => {
    const play = new Play().submit();
    indeterminate(play);
    play.retry();
    expect(play.unmet()).toEqual(['run_counted', 'node_ready']);
    expect(play.ready).toMatchObject({ run_kind: 'normal', purpose: 'again' });
    expect(play.root.node.counters.execute).toBe(0);
  });
});

describe('the gate', () => {
  test('S-T20 blocks for good when it halts', () => {
    const play = new Play().submit();
    expect(play.gate('halt')).toEqual(['task_blocked']);
    expect(play.last('task_blocked')).toMatchObject({ raw_halt_type: 'commands', halt_type: 'blocker', runs: 1 });
  });

  test('lets a human lift an overridable blocker', () => {
    const play = new Play().submit();
    expect(play.gate('blocked_overridable')).toEqual(['human_required']);
    expect(play.last('human_required')).toMatchObject({ help: 'needs_authority', run_open: false });
  });

  test('X04 C13 lets a human choose when warnings withhold approval', () => {
    const play = new Play().submit();
    expect(play.escalate()).toEqual(['human_required']);
    expect(play.last('human_required')).toMatchObject({ help: 'choice', raw_halt_type: 'warnings' });
  });

  test('gates the same run anew when its token had expired, and counts nothing', () => {
    const play = new Play().submit();
    expect(play.refuse('token_expired')).toEqual(['node_ready']);
    expect(play.ready).toMatchObject({ run: 2, run_kind: 'normal', purpose: 'regate' });
    expect(play.unit.faults).toEqual({});
  });

  test('does not gate for ever what is always too late: after a day of it the machinery is at fault', () => {
    const play = new Play().submit();
    for (let expired = 1; expired <= 24; expired += 1) expect(play.refuse('token_expired')).toEqual(['node_ready']);
    expect(play.refuse('token_expired')).toEqual(['fault_recorded']);
    expect(play.last('fault_recorded')).toMatchObject({ class: 'internal', count: 1 });
    expect(play.retry()).toEqual(['node_ready']);
    expect(play.refuse('token_expired')).toEqual(['node_ready']);
  });

  test.each(['token_invalid', 'protocol_unknown'] as const)('is at fault when the executor says %s', (reason) => {
    const play = new Play().submit();
    expect(play.refuse(reason)).toEqual(['fault_recorded']);
    expect(play.last('fault_recorded')).toMatchObject({ class: 'internal', count: 1 });
  });
});

describe('the firewall', () => {
  test.each(['satisfied', 'unmet'] as const)('blocks a run that broke it and ended %s', (outcome) => {
    const play = new Play().submit();
    expect(play.end({ outcome, firewall_broken: 'ci.yml' })).toEqual(['task_blocked']);
    expect(play.last('task_blocked')).toMatchObject({
      raw_halt_type: 'firewall',
      halt_type: 'blocker',
      detail: 'ci.yml',
    });
  });
});

describe('a judgement', () => {
  test.each([
    ['S-T12 S-T75 halts on an error', 'validator_error'],
    ['S-T14 halts on a blocker that nobody may override', 'blocker'],
  ] as const)('%s, and spawns nothing', (_name, halt_type) => {
    const play = new Play().submit();
    expect(play.judge([], { outcome: 'halt', halt_type, raw_halt_type: 'secrets' })).toEqual(['task_blocked']);
    expect(play.last('task_blocked')).toMatchObject({ halt_type, raw_halt_type: 'secrets' });
  });

  test('S-T76 tells of each validator whether its answer could be used', () => {
    const play = new Play().submit();
    const verdicts = [verdict('lint', { error: true }), verdict('size'), verdict('format', { error: true })];
    play.judge(verdicts, { outcome: 'halt', halt_type: 'validator_error' });
    const { verdicts: told, detail } = play.last('task_blocked');
    expect(told.filter(({ error }) => error).map(({ validator }) => validator)).toEqual(['lint', 'format']);
    expect(detail.split('\n')).toHaveLength(3);
  });

  test.each([
    ['escalate', 'choice'],
    ['blocked_overridable', 'needs_authority'],
  ] as const)('that says %s waits for a human', (outcome, help) => {
    const play = new Play().submit();
    expect(play.judge([], { outcome })).toEqual(['human_required']);
    expect(play.last('human_required').help).toBe(help);
  });
});

describe('a result of a node without a postcondition', () => {
  test('is judged again after a fix by naming the run it judges, and keeps its output', () => {
    const play = new Play().submit(taskSpec([nodeSpec({ postcondition: null })]));
    const objection = play.judgement([]);
    play.send({
      type: 'judge_run',
      judgement: { ...objection, outcome: 'recover', triggering_validators: ['lint'] },
      result: play.result({ output: 'kept' }),
    });
    play.judge();
    expect(play.ready).toMatchObject({ run_kind: 'check', purpose: 'after_fix', judges: 1 });
    play.judge();
    expect(play.last('task_completed').output).toBe('kept');
  });
});

describe('a check of what a recipe put out', () => {
  const checked = nodeSpec({ postcondition: { all: [{ cel: 'output.n == 1', timeout_ms: 1_000 }] } });

  test('is asked after a fix about the output of the run that was judged', () => {
    const play = new Play().submit(taskSpec([checked]));
    const objection = { ...play.judgement([]), outcome: 'recover' as const, triggering_validators: ['lint'] };
    play.send({ type: 'judge_run', judgement: objection, result: play.result({ output: { n: 1 } }) });
    play.judge();
    expect(play.ready).toMatchObject({ run_kind: 'check', purpose: 'after_fix', judges: 1 });
  });

  test('is asked again about the output of the run whose check could not run', () => {
    const play = new Play().submit(taskSpec([checked]));
    play.end({ outcome: 'indeterminate', workspace_ref: ref('left') });
    expect(play.root.retry).toMatchObject({ kind: 'check', purpose: 'check_again', judges: 1 });
  });
});
