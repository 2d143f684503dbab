import type { LineageDetail, Run } from '@fixpoint/contracts/rest/audit';
import { describe, expect, test } from '@jest/globals';
import { haltReport } from './halt-report.ts';

// Only what the report reads.
const lineage = { halt_type: 'unmet' } as LineageDetail;
const lint = { validator: 'lint', severity: 'blocker', error: false, justification: '1 finding' };
const run = {
  task: 'l.f1',
  run: 2,
  address: '0~1',
  node: 'paint',
  state: 'judged',
  outcome: 'unmet',
  detail: 'brush: not found\nexit 127',
  verdicts: [lint],
} as unknown as Run;
const other = { ...run, run: 1, detail: 'another reason' };
const halt = { slice: { task: 'l.f1', node_id: 'paint', run: 2 }, detail: '2 of 2 runs ended unmet', verdicts: [lint] };

describe('why a lineage did not complete', () => {
  test('is its halt, the run that failed, what was said of it, and what to do now', () => {
    expect(haltReport(lineage, halt, [other, run])).toBe(
      [
        'halt: unmet: 2 of 2 runs ended unmet',
        'at: node paint, run 0~1#2 (unmet)',
        '  | brush: not found',
        '  | exit 127',
        '  lint: 1 finding',
        'now: correct the task and submit it again under another key',
      ].join('\n'),
    );
  });
  test('leads to the handoff where a human may decide', () => {
    expect(haltReport(lineage, { ...halt, handoff: 'l.h1' }, [])).toMatch(/now: fixpoint handoffs show l\.h1$/);
  });
  test('takes the node from the run where the halt does not name it', () => {
    const slice = { ...halt.slice, node_id: null };
    expect(haltReport(lineage, { ...halt, slice }, [run])).toContain('at: node paint, run 0~1#2');
  });
  test('names the task where no run is to blame', () => {
    const slice = { ...halt.slice, node_id: null, run: null };
    const report = haltReport(lineage, { slice, detail: '', verdicts: [] }, [run]);
    expect(report).toMatch(/^halt: unmet\nat: task l\.f1\nnow: /);
  });
});
