import { describe, expect, test } from '@jest/globals';
import { audited } from './audited-event.ts';
import { foldRows } from './fold-rows.ts';
import {
  at,
  faultRecorded,
  gatePassed,
  judged,
  ready,
  recorded,
  repaired,
  runOf,
  started,
  telling,
  toolCalled,
  verified,
} from './history.fixture.ts';
import { runRules } from './runs.ts';

const about = { root: 'r1', task: 'r1', address: '0', run: 1 };

const rowAfter = (...events: readonly { type: string; data: unknown }[]) => {
  const { told, tell } = telling();
  tell('lineage-r1', 'r1', ready(runOf('r1', 'r1', 1)));
  for (const event of events) tell('gate-r1-1', 'r1', event);
  return foldRows(runRules, new Map(), recorded(told).map(audited)).get('r1#1');
};

describe('run row', () => {
  test('begins with what is to be done', () => {
    expect(rowAfter()).toMatchObject({
      lineage: 'r1',
      task: 'r1',
      run: 1,
      address: '0',
      project: 'web-shop',
      kind: 'normal',
      purpose: 'first',
      node: 'commit',
      state: 'ready',
      outcome: null,
      started_at: at(0),
      ended_at: null,
    });
  });

  test('follows the run from gate to judgement', () => {
    const history = [
      gatePassed(runOf('r1', 'r1', 1)),
      started(runOf('r1', 'r1', 1)),
      toolCalled(runOf('r1', 'r1', 1)),
      verified(runOf('r1', 'r1', 1)),
      judged(runOf('r1', 'r1', 1), 'recover'),
    ];
    const states = history.map((_event, index) => rowAfter(...history.slice(0, index + 1))?.state);
    expect(states).toEqual(['gated', 'executing', 'executing', 'executed', 'judged']);
    expect(rowAfter(...history)).toMatchObject({
      outcome: 'satisfied',
      rung: 'recipe',
      exit_code: 0,
      tools: 1,
      duration_ms: 15.5,
      judgement: 'recover',
      verdicts: [{ validator: 'lint', severity: 'blocker', error: false, justification: 'Two problems' }],
      halt_type: 'blocker',
      raw_halt_type: 'lint',
      ended_at: at(5),
    });
  });

  test('is done when what it did is not judged', () => {
    expect(rowAfter(verified(runOf('r1', 'r1', 1), { outcome: 'unmet', exit_code: 1, detail: 'no' }))).toMatchObject({
      state: 'executed',
      outcome: 'unmet',
      exit_code: 1,
      detail: 'no',
      judgement: null,
      ended_at: at(1),
    });
  });

  test.each(['governance_blocked', 'governance_escalated'])('%s stops it before it starts', (type) => {
    const data = { ...about, outcome: 'halt', halt_type: 'blocker', raw_halt_type: 'commands', verdicts: [] };
    expect(rowAfter({ type, data })).toMatchObject({ state: 'blocked', raw_halt_type: 'commands', ended_at: at(1) });
  });

  test.each([
    [
      { type: 'run_refused', data: { reason: 'token_expired', detail: 'an hour ago' } },
      { state: 'refused', detail: 'token_expired: an hour ago' },
    ],
    [
      { type: 'run_revoked', data: { reason: 'no_answer' } },
      { state: 'revoked', detail: 'no_answer' },
    ],
    [
      { type: 'gate_faulted', data: { phase: 'gate', class: 'workspace', retry_after_ms: 0, detail: 'no disk' } },
      { state: 'faulted', detail: 'workspace: no disk' },
    ],
  ])('ends with %j', ({ type, data }, end) => {
    expect(rowAfter({ type, data: { ...about, ...data } })).toMatchObject({ ...end, ended_at: at(1) });
  });

  test('is faulted when the machinery failed, and not when it had been judged', () => {
    expect(rowAfter(verified(runOf('r1', 'r1', 1), { outcome: 'faulted', fault_class: 'disk' }))).toMatchObject({
      state: 'faulted',
    });
    expect(rowAfter(started(runOf('r1', 'r1', 1)), faultRecorded(runOf('r1', 'r1', 1)))).toMatchObject({
      state: 'faulted',
      detail: 'lost_executor: no lease',
    });
    expect(rowAfter(judged(runOf('r1', 'r1', 1), 'proceed'), faultRecorded(runOf('r1', 'r1', 1)))).toMatchObject({
      state: 'judged',
      detail: '',
    });
  });

  test('keeps a bounded excerpt of what failed, cut between characters', () => {
    const detail = rowAfter(
      verified(runOf('r1', 'r1', 1), { detail: `${'x'.repeat(1_999)}😀${'y'.repeat(9)}` }),
    )?.detail;
    expect(detail).toBe(`${'x'.repeat(1_999)}…`);
  });

  test('there is one per run of each task', () => {
    const { told, tell } = telling();
    repaired('r1', { told, tell });
    const rows = foldRows(runRules, new Map(), recorded(told).map(audited));
    expect([...rows].map(([key, { kind, state }]) => [key, kind, state])).toEqual([
      ['r1#1', 'normal', 'judged'],
      ['r1.f1#1', 'normal', 'judged'],
      ['r1#2', 'check', 'judged'],
    ]);
  });
});
