import type { Run, TaskTree } from '@fixpoint/contracts/rest/audit';
import { describe, expect, test } from '@jest/globals';
import { demoRecord, demoReport } from './demo-report.ts';
import { fix, lineage, task } from './lineage.fixture.ts';

const run = (of: TaskTree, run: number, rest: Partial<Run> = {}): Run => ({
  lineage: 'l1',
  task: of.task,
  run,
  address: of.address,
  project: 'p',
  kind: 'normal',
  purpose: 'first',
  node: 'paint',
  state: 'executed',
  outcome: 'unmet',
  rung: 'recipe',
  exit_code: 1,
  tools: 1,
  duration_ms: 1,
  detail: '',
  judgement: null,
  verdicts: [],
  halt_type: null,
  raw_halt_type: null,
  started_at: '2026-01-15T09:30:00.000Z',
  ended_at: null,
  cursor: '1.1.1',
  ...rest,
});
const verdicts = [
  { validator: 'lint', severity: 'blocker', error: false, justification: 'No space after a comma' },
  { validator: 'secrets', severity: 'pass', error: false, justification: '' },
];

describe('the demonstration', () => {
  test('for programs has exactly what was promised', () => {
    expect(demoRecord({ example: 'paint', lineage })).toEqual({
      example: 'paint',
      status: 'human',
      rung: 'self_repair',
      fix_attempts: 1,
      depth: 1,
      events: 21,
      tokens: 0,
      money_micros: 0,
      lineage_id: 'l1',
    });
  });

  test('shows what models cost where any was asked', () => {
    const asked = { ...lineage, tokens: 480, money_micros: 2_400 };
    const [head, , row] = demoReport([{ example: 'paint', lineage: asked, runs: [] }]).split('\n');
    expect([
      head
        ?.trim()
        .split(/\s{2,}/)
        .slice(-2),
      row
        ?.trim()
        .split(/\s{2,}/)
        .slice(-2),
    ]).toEqual([
      ['tokens', 'money'],
      ['480', '0.002400'],
    ]);
  });

  test('for people is a table and each lineage as a tree', () => {
    const runs = [
      run(fix, 1, { detail: 'brush: not found' }),
      run(task, 2, {
        kind: 'check',
        purpose: 'after_fix',
        outcome: null,
        state: 'executing',
        rung: 'none',
        exit_code: null,
      }),
      run(task, 1, { outcome: 'satisfied', rung: 'self_repair', exit_code: 0, judgement: 'recover', verdicts }),
    ];
    expect(demoReport([{ example: 'paint', lineage, runs }])).toBe(
      [
        'example  end state                   rungs               fix attempts  events',
        '-------  --------------------------  ------------------  ------------  ------',
        'paint    human (max_recovery_depth)  recipe self_repair  1             21',
        '',
        'paint l1 human (max_recovery_depth)',
        '0 root: human (max_recovery_depth)',
        '  0#1 paint (normal, first): satisfied at self_repair, exit 0, judged recover lint',
        '      lint: No space after a comma',
        '  0#2 paint (check, after_fix): executing',
        '  0~1 fix for lint, format: exhausted (max_recovery_depth)',
        '    0~1#1 paint (normal, first): unmet at recipe, exit 1',
        '        | brush: not found',
      ].join('\n'),
    );
  });
});
