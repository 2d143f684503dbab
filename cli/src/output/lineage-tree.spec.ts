import type { Run } from '@fixpoint/contracts/rest/audit';
import { describe, expect, test } from '@jest/globals';
import { lineage, task } from '../lineage.fixture.ts';
import { lineageTree } from './lineage-tree.ts';

const run = (number: number, node: string): Run => ({
  ...{ lineage: 'l1', task: 'l1', run: number, address: '0', project: 'p', kind: 'normal', purpose: 'next_node', node },
  ...{ state: 'judged', outcome: 'satisfied', rung: 'recipe', exit_code: 0, tools: 1, duration_ms: 1, detail: '' },
  ...{ judgement: 'proceed', verdicts: [], halt_type: null, raw_halt_type: null, cursor: '1.1.1' },
  ...{ started_at: task.started_at, ended_at: task.started_at },
});

const linesOf = (changes: Partial<typeof task>): string[] => {
  const done = { status: 'completed', halt_type: null, raw_halt_type: null } as const;
  const tree = { ...task, ...done, ...changes, children: [] };
  return lineageTree({ ...lineage, ...done, tree }, [run(2, 'c'), run(1, 'a')])
    .split('\n')
    .slice(2);
};

const ran = (number: number, node: string): string =>
  `  0#${number} ${node} (normal, next_node): satisfied at recipe, exit 0, judged proceed`;

describe('the tree of a lineage', () => {
  test('shows skipped nodes where they would have been run, and the result', () => {
    const skipped = [
      { node: 'x', condition: 'inputs.a', runs: 0 },
      { node: 'b', condition: "inputs.b ==\n 'web'", runs: 1 },
      { node: 'd', condition: 'inputs.d', runs: 2 },
    ];
    expect(linesOf({ skipped, output: '{"n":1}' })).toEqual([
      '  0 x: skipped, inputs.a does not hold',
      ran(1, 'a'),
      "  0 b: skipped, inputs.b == 'web' does not hold",
      ran(2, 'c'),
      '  0 d: skipped, inputs.d does not hold',
      '  result: {"n":1}',
    ]);
  });

  test('names the artifact of a result that is too large, and says nothing of none', () => {
    expect(linesOf({ output_artifact: 'abc' }).at(-1)).toBe('  result: artifact abc');
    expect(linesOf({})).toEqual([ran(1, 'a'), ran(2, 'c')]);
  });
});
