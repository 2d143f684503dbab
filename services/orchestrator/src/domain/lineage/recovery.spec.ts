import { contentHash } from '@fixpoint/contracts/content-hash';
import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, Play, ROOT, ref, taskSpec, validator, verdict } from './lineage.fixture.ts';

const LINT = [verdict('lint')];
/** Findings of its own, so that it is not what a failed check of a fix would say. */
const LINT_AT = (line: number) => [verdict('lint', { evidence_hash: contentHash([line]) })];

describe('a failed judgement', () => {
  test('S-T11 S-T19 spawns one fix below its task and charges it before it runs', () => {
    const play = new Play().submit();
    expect(play.judge(LINT, { workspace_ref: ref('judged') })).toEqual([
      'run_counted',
      'subtask_spawned',
      'node_ready',
    ]);
    expect(play.last('subtask_spawned')).toMatchObject({
      parent_ref: ROOT,
      task_ref: `${ROOT}.f1`,
      address: '0~1',
      depth: 1,
      recovery_depth: 1,
      fix_attempts: 1,
      triggering_validators: ['lint'],
      judged_run: 1,
      workspace_ref: ref('judged'),
    });
  });

  test('S-T32 starts its fix from the result it judged, asks only who objected, with a chance of one and no repair', () => {
    const play = new Play().submit();
    play.judge(LINT, { workspace_ref: ref('judged') });
    expect(play.ready).toMatchObject({
      task: `${ROOT}.f1`,
      run: 1,
      task_kind: 'fix',
      workspace_ref: ref('judged'),
      judged_by: ['lint'],
      node: { id: 'lint', recipe: { command: 'fix lint' }, policy: 'required', max_repair_attempts: 0 },
    });
    expect(play.ready.node.postcondition).toEqual({ all: [{ command: 'check lint', timeout_ms: 5_000 }] });
  });

  test('makes one node per triggering validator, in the order of the protocol', () => {
    const play = new Play().submit();
    play.judge([verdict('format'), verdict('lint')]);
    expect(play.last('subtask_spawned').nodes.map((node) => node.id)).toEqual(['lint', 'format']);
    expect(play.ready.judged_by).toEqual([]);
    play.judge();
    expect(play.ready).toMatchObject({ last_node: true, judged_by: ['format', 'lint'] });
  });

  test('X05 of a validator that the protocol does not know spawns nothing and charges nothing', () => {
    const play = new Play().submit();
    expect(play.judge([verdict('ghost')]).slice(0, 3)).toEqual(['run_counted', 'recovery_exhausted', 'task_stalled']);
    expect(play.last('recovery_exhausted')).toMatchObject({ reason: 'no_fix', used: 0, asked: 0 });
    expect(play.last('task_stalled')).toMatchObject({ counter: 'judge', limit: 2, used: 1 });
    expect(play.unit.fixAttempts).toBe(0);
  });

  test('of a validator without a command of its own is judged only', () => {
    const play = new Play(mode({}, [validator('lint', { check: { cel: 'true' } })])).submit();
    play.judge(LINT);
    expect(play.ready.node.postcondition).toBeNull();
  });
});

describe('a completed fix', () => {
  const afterFix = (): Play => {
    const play = new Play().submit();
    play.judge(LINT);
    expect(play.judge([], { workspace_ref: ref('fixed') })).toEqual(['node_completed', 'task_completed', 'node_ready']);
    return play;
  };

  test('has its parent checked on what it left', () => {
    expect(afterFix().ready).toMatchObject({
      task: ROOT,
      run: 2,
      run_kind: 'check',
      purpose: 'after_fix',
      workspace_ref: ref('fixed'),
      judged_by: null,
    });
  });

  test('S-T69 is a fixpoint once the parent is judged clean', () => {
    const play = afterFix();
    expect(play.judge()).toEqual(['node_completed', 'recovery_resolved', 'task_completed']);
    expect(play.last('recovery_resolved')).toMatchObject({ depth: 1, attempts_used: 1, run: 2, task: ROOT });
    expect(play.last('task_completed')).toMatchObject({ runs: 2, fix_attempts: 1 });
  });

  test('lets the work be done again from what it left when the parent’s check does not hold', () => {
    const play = afterFix();
    expect(play.unmet()).toEqual(['run_counted', 'node_ready']);
    expect(play.ready).toMatchObject({ run_kind: 'normal', workspace_ref: ref('fixed') });
  });

  test('is followed by one beside it when the parent still fails', () => {
    const play = afterFix();
    play.judge(LINT);
    expect(play.last('subtask_spawned')).toMatchObject({
      task_ref: `${ROOT}.f2`,
      address: '0~2',
      depth: 1,
      fix_attempts: 2,
    });
  });

  test('X09 S-T30 leaves the closure open while judgements differ', () => {
    const play = afterFix();
    play.judge(LINT_AT(7));
    expect(play.count('recovery_stalled')).toBe(0);
    expect(play.count('subtask_spawned')).toBe(2);
  });
});

describe('a failed fix', () => {
  const failing = (): Play => {
    const play = new Play().submit();
    play.judge(LINT_AT(1));
    return play;
  };

  test('S-T16 spawns a nested one from what it left', () => {
    const play = failing();
    expect(play.unmet('worse')).toEqual(['run_counted', 'subtask_spawned', 'node_ready']);
    expect(play.last('subtask_spawned')).toMatchObject({
      parent_ref: `${ROOT}.f1`,
      task_ref: `${ROOT}.f1.f1`,
      address: '0~1~1',
      depth: 2,
      fix_attempts: 2,
      workspace_ref: ref('worse'),
    });
  });

  test('by judgement spawns a nested one for what still objects', () => {
    const play = failing();
    play.judge([verdict('format')]);
    expect(play.last('subtask_spawned')).toMatchObject({ depth: 2, triggering_validators: ['format'] });
  });

  test('is checked again on what its nested fix left, and goes on to its parent', () => {
    const play = failing();
    play.unmet('worse');
    play.judge([], { workspace_ref: ref('nested') });
    expect(play.ready).toMatchObject({ task: `${ROOT}.f1`, run: 2, run_kind: 'check', workspace_ref: ref('nested') });
    play.judge([], { workspace_ref: ref('nested') });
    expect(play.ready).toMatchObject({ task: ROOT, run: 2, run_kind: 'check', purpose: 'after_fix' });
    expect(play.judge()).toEqual(['node_completed', 'recovery_resolved', 'task_completed']);
    expect(play.last('recovery_resolved')).toMatchObject({ depth: 2, attempts_used: 2 });
  });

  test('S-T29 X28 S-T51 stalls the closure at the second equal judgement, whatever was written', () => {
    const play = new Play().submit();
    play.judge([verdict('lint', { justification: 'once' })], { workspace_ref: ref('same') });
    expect(play.unmet('same')).toEqual(['run_counted', 'recovery_stalled', 'task_stalled', 'node_ready']);
    expect(play.last('recovery_stalled')).toMatchObject({
      task: ROOT,
      depth: 1,
      attempts_used: 1,
      halt_type: 'recovery_stalled',
      ended_tasks: [`${ROOT}.f1`],
    });
    expect(play.task(`${ROOT}.f1`).status).toBe('ended');
  });

  test('at the parent stalls the closure at the second equal judgement', () => {
    const play = new Play().submit();
    play.judge(LINT, { workspace_ref: ref('same') });
    play.judge([], { workspace_ref: ref('same') });
    expect(play.judge(LINT, { workspace_ref: ref('same') })).toContain('recovery_stalled');
  });

  test('may judge the same of another tree', () => {
    const play = new Play().submit();
    play.judge(LINT, { workspace_ref: ref('one') });
    expect(play.unmet('two')).toContain('subtask_spawned');
  });

  test.each([
    ['S-T34 a halt', (play: Play) => play.judge([], { outcome: 'halt', raw_halt_type: 'secrets' }), 'secrets'],
    ['an escalation', (play: Play) => play.judge([], { outcome: 'escalate' }), 'escalate'],
    [
      'a blocker for a human',
      (play: Play) => play.judge([], { outcome: 'blocked_overridable' }),
      'blocked_overridable',
    ],
    ['S-T35 a halt of its gate', (play: Play) => play.gate('halt'), 'commands'],
    ['an escalation of its gate', (play: Play) => play.escalate(), 'warnings'],
    ['a broken firewall', (play: Play) => play.end({ firewall_broken: 'ci.yml' }), 'firewall'],
  ])('by %s ends the closure, not the lineage', (_name, answer, cause) => {
    const play = failing();
    expect(answer(play).slice(0, 2)).toEqual(['recovery_exhausted', 'task_stalled']);
    expect(play.last('recovery_exhausted')).toMatchObject({ reason: 'fix_blocked', raw_halt_type: cause, used: 1 });
    expect(play.root.status).toBe('open');
  });
});

describe('the depth of a closure', () => {
  const deep = (levels: number, limit = 3): Play => {
    const play = new Play(mode({ max_recovery_depth: limit })).submit();
    play.judge(LINT_AT(0));
    for (let level = 1; level < levels; level++) play.unmet(`level ${level}`);
    return play;
  };

  test('S-T16 X06 X08 may be three', () => {
    const play = deep(3);
    expect(play.last('subtask_spawned').depth).toBe(3);
    expect(play.count('recovery_exhausted')).toBe(0);
  });

  test('S-T15 S-T17 X06 may not be four, and the refusal says limit, used and asked', () => {
    const play = deep(3);
    expect(play.unmet('level 3')).toEqual(['run_counted', 'recovery_exhausted', 'task_stalled', 'node_ready']);
    expect(play.last('recovery_exhausted')).toMatchObject({
      task: ROOT,
      reason: 'max_recovery_depth',
      limit: 3,
      used: 3,
      asked: 4,
      depth: 3,
      halt_type: 'recovery_exhausted',
      triggering_validators: ['lint'],
      ended_tasks: [`${ROOT}.f1`, `${ROOT}.f1.f1`, `${ROOT}.f1.f1.f1`],
    });
    expect(play.unit.fixAttempts).toBe(3);
  });

  test('S-T07 S-T10 X09 ends the closure when a later fix goes too deep, though an earlier one was completed', () => {
    const play = new Play().submit();
    play.judge(LINT_AT(0));
    play.judge();
    play.judge(LINT_AT(1), { workspace_ref: ref('again') });
    for (const level of ['one', 'two', 'three']) play.unmet(level);
    expect(play.last('recovery_exhausted')).toMatchObject({ reason: 'max_recovery_depth', asked: 4 });
    expect(play.task(`${ROOT}.f1`).status).toBe('completed');
    expect(play.unit.fixAttempts).toBe(4);
  });

  test('S-T52 of nought lets no fix be spawned', () => {
    const play = new Play(mode({ max_recovery_depth: 0 })).submit();
    play.judge(LINT);
    expect(play.last('recovery_exhausted')).toMatchObject({
      reason: 'max_recovery_depth',
      limit: 0,
      used: 0,
      asked: 1,
    });
  });
});

describe('the attempts of a closure', () => {
  const beside = (attempts: number, limit = 10): Play => {
    const play = new Play(mode({ max_total_fix_attempts: limit })).submit();
    for (let n = 1; n <= attempts; n++) {
      play.judge(LINT_AT(n), { workspace_ref: ref(`parent ${n}`) });
      play.judge([], { workspace_ref: ref(`fix ${n}`) });
    }
    return play;
  };

  test('X06 X07 may be ten, side by side under a depth of three', () => {
    const play = beside(10);
    expect(play.last('subtask_spawned')).toMatchObject({ fix_attempts: 10, depth: 1, address: '0~10' });
  });

  test('S-T09 X06 C13 may not be eleven', () => {
    const play = beside(10);
    expect(play.judge(LINT_AT(11), { workspace_ref: ref('parent 11') })).toContain('recovery_exhausted');
    expect(play.last('recovery_exhausted')).toMatchObject({
      reason: 'max_total_fix_attempts',
      limit: 10,
      used: 10,
      asked: 11,
    });
    expect(play.last('task_stalled')).toMatchObject({ counter: 'fix', limit: 10, used: 10 });
  });

  test('X07 C5 are counted over the whole closure, nested ones too', () => {
    const play = new Play(mode({ max_total_fix_attempts: 2 })).submit();
    play.judge(LINT_AT(1));
    play.unmet('one');
    expect(play.unmet('two')).toContain('recovery_exhausted');
    expect(play.last('recovery_exhausted')).toMatchObject({ reason: 'max_total_fix_attempts', used: 2, asked: 3 });
  });

  test('C9 are never given back by a node that is completed', () => {
    const play = new Play().submit(taskSpec([nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })]));
    play.judge(LINT_AT(1));
    play.judge();
    play.judge();
    expect(play.ready.node.id).toBe('two');
    play.judge(LINT_AT(2));
    expect(play.last('subtask_spawned').fix_attempts).toBe(2);
  });
});

describe('the brief of a fix', () => {
  test('S-T25 says the intent once, in the words of the root', () => {
    const play = new Play().submit();
    play.judge(LINT);
    expect(play.last('subtask_spawned').brief.intent).toBe('All is committed');
    expect(JSON.stringify(play.ready.brief).split('All is committed')).toHaveLength(2);
  });

  test('S-T26 S-T27 S-T31 accumulates what failed before, and where', () => {
    const play = new Play().submit();
    play.judge(LINT_AT(1));
    play.end({ outcome: 'unmet', detail: 'line 3 is still wrong', workspace_ref: ref('x') });
    const { brief } = play.last('subtask_spawned');
    expect(brief.prior_failures).toEqual([
      { attempt: 1, task: ROOT, validator: 'lint', severity: 'blocker', justification: 'lint objects' },
    ]);
    expect(brief.justifications).toEqual([
      { validator: 'lint', severity: 'blocker', justification: 'line 3 is still wrong' },
    ]);
  });

  test('S-T46 says what was said word for word', () => {
    const play = new Play().submit();
    const justification = '  `src/a.ts` has no class `Cart`;\tit "should" have\n\n\u0000\ud800 $& ${{ x }} <b>é</b>\n';
    play.judge([verdict('lint', { justification })]);
    expect(play.ready.brief?.justifications).toEqual([{ validator: 'lint', severity: 'blocker', justification }]);
  });

  test('S-T36 S-T37 names what still objects, and what an earlier fix has settled only as history', () => {
    const play = new Play().submit();
    play.judge([verdict('lint'), verdict('format')], { workspace_ref: ref('both') });
    for (let node = 1; node <= 2; node += 1) play.judge();
    play.judge([verdict('format')], { workspace_ref: ref('one') });
    const { brief } = play.last('subtask_spawned');
    expect(brief.justifications.map(({ validator }) => validator)).toEqual(['format']);
    expect(brief.prior_failures.map(({ validator }) => validator)).toEqual(['lint', 'format']);
  });

  test('S-T45 is about the very tree that its fix starts from', () => {
    const play = new Play().submit();
    for (const tree of ['first', 'second', 'third']) {
      play.judge(LINT_AT(tree.length), { workspace_ref: ref(tree) });
      expect(play.ready.workspace_ref).toEqual(ref(tree));
      play.judge([], { workspace_ref: ref(`after ${tree}`) });
    }
  });

  test('S-T24 is whole where it fits', () => {
    const play = new Play().submit();
    const justification = 'x'.repeat(20_000);
    play.judge([verdict('lint', { justification })]);
    expect(play.last('subtask_spawned').brief.justifications[0]?.justification).toBe(justification);
  });

  test('S-T24 X21 says how much is missing where an event could not hold it', () => {
    const play = new Play().submit();
    for (let n = 0; n < 5; n++) {
      play.judge([verdict('lint', { justification: `${n}`.repeat(30_000), evidence_hash: contentHash([n]) })]);
      play.judge();
    }
    const spawned = play.last('subtask_spawned');
    expect(Buffer.byteLength(JSON.stringify(spawned))).toBeLessThan(60 * 1024);
    expect(spawned.brief.prior_failures).toHaveLength(4);
    expect(spawned.brief.justifications[0]?.justification).toMatch(/\[cut: \d+ of 30000 characters; /);
  });
});
