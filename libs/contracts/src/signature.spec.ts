import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { judgementSignature } from './signature.ts';

type Judged = Parameters<typeof judgementSignature>[0][number];

const verdict = (validator: string, changed: Partial<Judged> = {}): Judged => ({
  validator,
  severity: 'blocker',
  criteria: ['b', 'a'],
  evidence_hash: 'e1',
  ...changed,
});

const TREE = 'a'.repeat(40);

describe('the signature of a judgement', () => {
  const verdicts = [verdict('lint'), verdict('types'), verdict('size', { severity: 'warning' })];
  const signature = judgementSignature(verdicts, TREE);

  test('does not depend on the order of verdicts or criteria', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(verdicts, { minLength: verdicts.length }), (shuffled) => {
        const mixed = shuffled.map((one) => ({ ...one, criteria: [...one.criteria].reverse() }));
        expect(judgementSignature(mixed, TREE)).toBe(signature);
      }),
    );
  });

  test('does not depend on prose, time or what passed', () => {
    const told = { ...verdict('lint'), justification: 'in other words', duration_ms: 7 };
    const passed = verdict('new-check', { severity: 'pass' });
    expect(judgementSignature([told, ...verdicts.slice(1), passed], TREE)).toBe(signature);
  });

  test.each([
    ['severity', [verdict('lint', { severity: 'warning' }), ...verdicts.slice(1)], TREE],
    ['evidence', [verdict('lint', { evidence_hash: 'e2' }), ...verdicts.slice(1)], TREE],
    ['criteria', [verdict('lint', { criteria: ['a'] }), ...verdicts.slice(1)], TREE],
    ['an objection less', verdicts.slice(1), TREE],
    ['another tree', verdicts, 'b'.repeat(40)],
    ['no tree', verdicts, null],
  ])('changes with %s', (_, changed, tree) => {
    expect(judgementSignature(changed, tree)).not.toBe(signature);
  });
});
