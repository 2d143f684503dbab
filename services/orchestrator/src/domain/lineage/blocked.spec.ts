import type { Verdict } from '@fixpoint/contracts/verdict';
import { describe, expect, test } from '@jest/globals';
import { objections } from './blocked.ts';

const verdict = (changes: Partial<Verdict>): Verdict => ({
  validator: 'secrets',
  severity: 'blocker',
  original_severity: 'blocker',
  error: false,
  overridable: false,
  justification: 'a token in settings.ini',
  criteria: [],
  findings: [],
  evidence_hash: 'a'.repeat(64),
  output: null,
  duration_ms: 1,
  ...changes,
});

describe('objections', () => {
  test('name who objected and what was said, warnings and errors too', () => {
    const verdicts = [
      verdict({}),
      verdict({ validator: 'lint', severity: 'pass', justification: 'fine' }),
      verdict({ validator: 'schema', severity: 'pass', error: true, justification: 'no such file' }),
    ];
    expect(objections(verdicts)).toBe('secrets: a token in settings.ini\nschema: no such file');
  });
  test('are empty when nobody objected', () => expect(objections([verdict({ severity: 'pass' })])).toBe(''));
  test('fit beside the verdicts however much was said, with a mark', () => {
    const told = objections([verdict({ justification: 'x'.repeat(50_000) })]);
    expect(told.length).toBeLessThan(5_000);
    expect(told).toContain('cut:');
  });
});
