import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { Verdict } from '@fixpoint/contracts/verdict';
import { fold } from '@fixpoint/decider/decider';
import { given } from '@fixpoint/decider/given';
import { verdictOf } from '@fixpoint/validation/verdict';
import { describe, expect, test } from '@jest/globals';
import { type KeepVerdict, keptVerdicts, keyOf } from './kept-verdicts.ts';

const verdict = (justification: string): Verdict => {
  const spec = { id: 'lint', severity: 'blocker', severity_cap: null, overridable: true } as const;
  const made = verdictOf(spec, { answer: 'fail', justification }, 0);
  if (made === null) throw new Error('a failing validator has a verdict');
  return made;
};
const data = (phase: 'gate' | 'judge', says: string) => ({
  ...{ root: 'r', task: 'r', address: '0', run: 1 },
  ...{ phase, verdict: verdict(says) },
});
const keep = (phase: 'gate' | 'judge', says: string): KeepVerdict => ({
  type: 'keep_verdict',
  data: data(phase, says),
});
const kept = (phase: 'gate' | 'judge', says: string): EventNamed<'verdict_recorded'> => ({
  type: 'verdict_recorded',
  data: data(phase, says),
});

describe('verdicts that are in', () => {
  test('are kept', () => given(keptVerdicts).when(keep('judge', 'bad')).then(kept('judge', 'bad')));
  test('stand: a second answer of the same validator changes nothing', () =>
    given(keptVerdicts, kept('judge', 'bad')).when(keep('judge', 'worse')).thenNothing());
  test('of the other phase are others', () =>
    given(keptVerdicts, kept('gate', 'bad')).when(keep('judge', 'bad')).then(kept('judge', 'bad')));
  test('are found by phase and validator, the first one', () => {
    const state = fold(keptVerdicts, keptVerdicts.initial, [kept('judge', 'bad'), kept('judge', 'worse')]);
    expect(state[keyOf('judge', 'lint')]?.justification).toBe('bad');
    expect(state[keyOf('gate', 'lint')]).toBeUndefined();
  });
});
