import { cappedSeverity } from '@fixpoint/contracts/documents/protocol';
import type { Finding } from '@fixpoint/contracts/verdict';
import { describe, expect, test } from '@jest/globals';
import { cutText } from './cut-text.ts';
import { EXIT_CODE_RULE, evidenceHash, verdictOf } from './verdict.ts';

const spec = { id: 'lint', severity: 'blocker', severity_cap: null, overridable: true } as const;
const finding = (more: Partial<Finding> = {}): Finding => ({
  rule: 'r',
  path: 'a.ts',
  line: 3,
  criterion: null,
  message: 'm',
  ...more,
});

describe('severity cap', () => {
  test.each([
    ['blocker', null, 'blocker'],
    ['blocker', 'warning', 'warning'],
    ['blocker', 'pass', 'pass'],
    ['warning', 'blocker', 'warning'],
    ['pass', 'warning', 'pass'],
    ['pass', 'blocker', 'pass'],
  ] as const)('%s capped at %s is %s', (severity, cap, expected) => {
    expect(cappedSeverity(severity, cap)).toBe(expected);
  });
});

describe('verdict', () => {
  test('keeps both severities', () => {
    const verdict = verdictOf({ ...spec, severity_cap: 'warning' }, { answer: 'fail', justification: 'no' }, 5);
    expect(verdict).toMatchObject({
      validator: 'lint',
      severity: 'warning',
      original_severity: 'blocker',
      error: false,
      overridable: true,
      duration_ms: 5,
    });
  });

  test('X05: a cap never touches an error, nor is an error overridable', () => {
    expect(
      verdictOf({ ...spec, severity_cap: 'warning' }, { answer: 'error', justification: 'garbled' }, 0),
    ).toMatchObject({
      severity: 'blocker',
      original_severity: 'blocker',
      error: true,
      overridable: false,
    });
  });

  test('a pass is a pass whatever the declared severity', () => {
    expect(verdictOf(spec, { answer: 'pass', justification: '' }, 0)).toMatchObject({
      severity: 'pass',
      original_severity: 'pass',
    });
  });

  test('S-T70: a fault is no verdict', () => {
    expect(verdictOf(spec, { answer: 'fault', class: 'network', detail: '' }, 0)).toBeNull();
  });

  test('is bounded, and its evidence is not', () => {
    const findings = Array.from({ length: 500 }, (_, line) => finding({ line, message: 'x'.repeat(10_000) }));
    const verdict = verdictOf(spec, { answer: 'fail', justification: 'y'.repeat(100_000), findings }, 0);
    expect(JSON.stringify(verdict).length).toBeLessThan(12_000);
    expect(verdict?.evidence_hash).toBe(evidenceHash(findings));
    expect(verdict?.justification).toContain('left out');
  });
});

describe('evidence hash', () => {
  test('is equal for the same places in any order, with any prose, told once or twice', () => {
    const a = [finding({ message: 'one' }), finding({ line: 9 })];
    const b = [finding({ line: 9, message: 'other words' }), finding({ message: 'two' }), finding()];
    expect(evidenceHash(a)).toBe(evidenceHash(b));
  });

  test.each([
    ['rule', { rule: 's' }],
    ['path', { path: 'b.ts' }],
    ['line', { line: 4 }],
    ['criterion', { criterion: 'c' }],
  ])('differs with the %s', (_, more) => {
    expect(evidenceHash([finding(more)])).not.toBe(evidenceHash([finding()]));
  });

  test.each([
    ['exit codes', finding({ rule: EXIT_CODE_RULE, path: null, line: null })],
    ['criteria without a place', finding({ rule: 'c', path: null, line: null, criterion: 'covers the goal' })],
  ])('does not count %s', (_, ignored) => {
    expect(evidenceHash([finding(), ignored])).toBe(evidenceHash([finding()]));
  });
});

describe('a cut text', () => {
  test('says how much is missing and keeps both ends', () => {
    const cut = cutText(`start${'x'.repeat(1000)}end`, 200);
    expect(cut.length).toBeLessThanOrEqual(200);
    expect(cut).toMatch(/^start.*\[… 808 characters left out …\].*end$/s);
  });

  test('is left as it is when it fits', () => {
    expect(cutText('short', 5)).toBe('short');
  });

  test('E1: never splits a character', () => {
    for (let limit = 60; limit < 64; limit += 1) {
      const cut = cutText('😀'.repeat(100), limit);
      expect(cut.isWellFormed()).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(limit);
    }
  });
});
