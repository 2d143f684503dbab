import type { Verdict } from '@fixpoint/contracts/verdict';
import { describe, expect, test } from '@jest/globals';
import { fitVerdicts } from './fit-verdicts.ts';
import { verdictOf } from './verdict.ts';

const verdict = (validator: string, length: number): Verdict => {
  const findings = Array.from({ length }, (_, line) => ({ rule: 'r', path: 'a', line, criterion: null, message: 'm' }));
  const spec = { id: validator, severity: 'blocker', severity_cap: null, overridable: true } as const;
  const made = verdictOf(
    spec,
    { answer: 'fail', justification: '\0'.repeat(2000), findings, criteria: ['c'.repeat(500)] },
    0,
  );
  if (made === null) throw new Error('no verdict');
  return made;
};

describe('verdicts of one event', () => {
  test('stay as they are when they fit', () => {
    const verdicts = [verdict('a', 20)];
    expect(fitVerdicts(verdicts, 100_000)).toBe(verdicts);
  });

  test('are shortened when they do not, and say the same', () => {
    const verdicts = Array.from({ length: 20 }, (_, at) => verdict(`v${at}`, 20));
    const fitted = fitVerdicts(verdicts, 20_000);
    expect(Buffer.byteLength(JSON.stringify(fitted))).toBeLessThan(21_000);
    const meaning = (all: readonly Verdict[]) =>
      all.map(({ validator, severity, evidence_hash }) => [validator, severity, evidence_hash]);
    expect(meaning(fitted)).toEqual(meaning(verdicts));
  });

  test('lose findings of the long ones only', () => {
    const [short, long] = fitVerdicts(
      [{ ...verdict('short', 0), justification: 'brief', criteria: [] }, verdict('long', 20)],
      8_000,
    );
    expect(short?.justification).toBe('brief');
    expect(long?.findings.length).toBeLessThan(20);
  });
});
