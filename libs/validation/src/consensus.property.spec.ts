import { neededPasses, type Severity } from '@fixpoint/contracts/documents/protocol';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decideVerdicts, type Question } from './decide-verdicts.ts';
import { type ValidatorAnswer, verdictOf } from './verdict.ts';

type Said = Question['verdicts'][number];

const severity = fc.constantFrom<Severity>('pass', 'warning', 'blocker');
const verdicts = fc
  .array(fc.record({ severity, error: fc.boolean(), overridable: fc.boolean() }), { minLength: 1, maxLength: 9 })
  .map((said) => said.map((each, index): Said => ({ ...each, validator: `v${index}` })));
const circumstances = fc.record({
  phase: fc.constantFrom('before', 'after'),
  consensus: fc.constantFrom('unanimous', 'majority', 'quorum', 'any'),
  recoverOn: fc.subarray(['warning', 'blocker'] as const),
  lifted: fc.subarray(Array.from({ length: 9 }, (_, index) => `v${index}`)),
});

const goesOn = (question: Question): boolean => decideVerdicts(question).outcome.startsWith('proceed');

describe('under every consensus', () => {
  test('X38: a warning is never a pass: what goes on has its passes without the warnings', () => {
    fc.assert(
      fc.property(verdicts, circumstances, (said, around) => {
        const passes = said.filter(
          ({ validator, severity }) => severity === 'pass' || around.lifted.includes(validator),
        ).length;
        const enough = passes >= neededPasses(around.consensus, said.length);
        if (goesOn({ ...around, verdicts: said })) expect(enough).toBe(true);
      }),
    );
  });

  test('X38: a warning in the place of a pass never makes a task go on that stopped', () => {
    fc.assert(
      fc.property(verdicts, circumstances, fc.nat(8), (said, around, at) => {
        const worse = said.map((each, index): Said => {
          return index === at && each.severity === 'pass' ? { ...each, severity: 'warning' } : each;
        });
        if (!goesOn({ ...around, verdicts: said })) expect(goesOn({ ...around, verdicts: worse })).toBe(false);
      }),
    );
  });

  test('the order of verdicts decides nothing', () => {
    const orders = verdicts.chain((said) =>
      fc.tuple(fc.constant(said), fc.shuffledSubarray(said, { minLength: said.length })),
    );
    fc.assert(
      fc.property(orders, circumstances, ([said, shuffled], around) => {
        const [first, second] = [said, shuffled].map((each) => decideVerdicts({ ...around, verdicts: each }));
        expect({ ...second, triggering: second?.triggering.toSorted() }).toEqual({
          ...first,
          triggering: first?.triggering.toSorted(),
        });
      }),
    );
  });

  test('X05: no cap and no decision hides an error', () => {
    const capped = fc.record({
      severity: fc.constantFrom('warning' as const, 'blocker' as const),
      severity_cap: fc.option(severity),
      overridable: fc.boolean(),
      answer: fc.constantFrom<ValidatorAnswer>(
        { answer: 'pass', justification: 'fine' },
        { answer: 'fail', justification: 'not fine' },
        { answer: 'error', justification: 'no sense' },
      ),
    });
    fc.assert(
      fc.property(fc.array(capped, { minLength: 1, maxLength: 9 }), circumstances, (asked, around) => {
        const said = asked.flatMap(
          ({ answer, ...spec }, index) => verdictOf({ ...spec, id: `v${index}` }, answer, 1) ?? [],
        );
        const { outcome, haltType } = decideVerdicts({ ...around, verdicts: said });
        const failed = asked.some(({ answer }) => answer.answer === 'error');
        expect(haltType === 'validator_error').toBe(failed);
        if (failed) expect(outcome).toBe('halt');
      }),
    );
  });
});
