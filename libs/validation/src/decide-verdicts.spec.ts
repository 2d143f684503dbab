import { neededPasses } from '@fixpoint/contracts/documents/protocol';
import { describe, expect, test } from '@jest/globals';
import { type Decision, decideVerdicts, type Question } from './decide-verdicts.ts';

type Said = Question['verdicts'][number];
const pass = (validator = 'p'): Said => ({ validator, severity: 'pass', error: false, overridable: false });
const warning = (validator = 'w'): Said => ({ validator, severity: 'warning', error: false, overridable: false });
const overridable = (validator = 'o'): Said => ({ validator, severity: 'blocker', error: false, overridable: true });
const final = (validator = 'f'): Said => ({ validator, severity: 'blocker', error: false, overridable: false });
const error = (validator = 'e'): Said => ({ validator, severity: 'blocker', error: true, overridable: false });

const decide = (verdicts: readonly Said[], more: Partial<Question> = {}): Decision =>
  decideVerdicts({ phase: 'after', verdicts, consensus: 'unanimous', recoverOn: ['blocker'], lifted: [], ...more });

describe('verdicts after execution', () => {
  test.each<[string, Said[], Partial<Question>, Partial<Decision>]>([
    ['S-T84: nothing said halts', [], {}, { outcome: 'halt', haltType: 'validator_error', rawHaltType: 'no_verdicts' }],
    [
      'all passes proceed',
      [pass(), pass('q')],
      {},
      { outcome: 'proceed', haltType: null, rawHaltType: null, triggering: [] },
    ],
    [
      'S-T12: an error halts and starts no recovery',
      [overridable(), error()],
      {},
      { outcome: 'halt', haltType: 'validator_error', triggering: [] },
    ],
    [
      'S-T72, S-T74: an error halts though everybody else passes',
      [pass(), error(), pass()],
      { consensus: 'any' },
      { outcome: 'halt', haltType: 'validator_error' },
    ],
    [
      'S-T75: one error among warnings halts',
      [warning(), error()],
      { recoverOn: ['blocker', 'warning'] },
      { outcome: 'halt' },
    ],
    [
      'S-T14: a non-overridable blocker halts and starts no recovery',
      [overridable(), final()],
      {},
      { outcome: 'halt', haltType: 'blocker', rawHaltType: 'blocked', triggering: [] },
    ],
    [
      'S-T114: no decision lifts a non-overridable blocker',
      [final()],
      { lifted: ['f'] },
      { outcome: 'halt', haltType: 'blocker' },
    ],
    [
      'S-T109: no decision lifts an error',
      [error()],
      { lifted: ['e'] },
      { outcome: 'halt', haltType: 'validator_error' },
    ],
    ['S-T11: an overridable blocker recovers', [pass(), overridable()], {}, { outcome: 'recover', triggering: ['o'] }],
    [
      'X04: a warning beside a blocker does not trigger by default',
      [warning(), overridable()],
      {},
      { outcome: 'recover', triggering: ['o'] },
    ],
    [
      'X04: it does when it is in recover_on',
      [warning(), overridable()],
      { recoverOn: ['blocker', 'warning'] },
      { outcome: 'recover', triggering: ['w', 'o'] },
    ],
    [
      'blockers not in recover_on wait for an override',
      [overridable()],
      { recoverOn: [] },
      { outcome: 'blocked_overridable', haltType: 'blocker', rawHaltType: 'blocked_overridable' },
    ],
    [
      'X04: warnings escalate by default',
      [pass(), warning()],
      {},
      { outcome: 'escalate', haltType: 'escalate', rawHaltType: 'warnings', triggering: [] },
    ],
    [
      'X04: warnings recover by opt-in',
      [pass(), warning()],
      { recoverOn: ['warning'] },
      { outcome: 'recover', triggering: ['w'] },
    ],
    [
      'X04: warnings that the consensus bears never recover',
      [pass(), pass(), warning()],
      { consensus: 'majority', recoverOn: ['warning'] },
      { outcome: 'proceed_with_log' },
    ],
    [
      'a lifted warning proceeds with a log',
      [pass(), warning()],
      { lifted: ['w'] },
      { outcome: 'proceed_with_log', reason: 'lifted' },
    ],
    [
      'a lifted blocker proceeds with a log',
      [overridable()],
      { lifted: ['o'] },
      { outcome: 'proceed_with_log', reason: 'lifted' },
    ],
    [
      'S-T110: lifting one warning of two still escalates',
      [warning('a'), warning('b')],
      { lifted: ['a'] },
      { outcome: 'escalate' },
    ],
    ['S-T112: lifting another validator changes nothing', [warning('a')], { lifted: ['b'] }, { outcome: 'escalate' }],
    ['a lifted pass is only a pass', [pass()], { lifted: ['p'] }, { outcome: 'proceed', reason: 'passed' }],
  ])('%s', (...[, verdicts, more, expected]) => {
    expect(decide(verdicts, more)).toMatchObject(expected);
  });
});

describe('verdicts before execution', () => {
  test.each<[string, Said[], Partial<Question>, Partial<Decision>]>([
    [
      'X05: an overridable blocker waits for an override and never recovers',
      [overridable()],
      {},
      { outcome: 'blocked_overridable', triggering: [] },
    ],
    [
      'warnings escalate even when they are in recover_on',
      [warning()],
      { recoverOn: ['warning'] },
      { outcome: 'escalate', triggering: [] },
    ],
    ['a non-overridable blocker halts', [final()], {}, { outcome: 'halt', haltType: 'blocker' }],
    ['passes proceed', [pass()], {}, { outcome: 'proceed' }],
  ])('%s', (...[, verdicts, more, expected]) => {
    expect(decide(verdicts, { phase: 'before', ...more })).toMatchObject(expected);
  });
});

describe('consensus', () => {
  test.each([
    ['unanimous', [1, 2, 3, 4, 5, 6, 7]],
    ['majority', [1, 2, 2, 3, 3, 4, 4]],
    ['quorum', [1, 2, 2, 3, 4, 4, 5]],
    ['any', [1, 1, 1, 1, 1, 1, 1]],
  ] as const)('X38: passes that %s needs among 1 to 7', (consensus, expected) => {
    expect([1, 2, 3, 4, 5, 6, 7].map((total) => neededPasses(consensus, total))).toEqual(expected);
  });

  const policies = ['unanimous', 'majority', 'quorum', 'any'] as const;
  const counts = [1, 2, 3, 4, 5, 6, 7].flatMap((total) =>
    Array.from({ length: total + 1 }, (_, passes) => ({ total, passes })),
  );
  const outcomeOf = (passes: number, total: number, consensus: Question['consensus']) =>
    decide([...Array<Said>(passes).fill(pass()), ...Array<Said>(total - passes).fill(warning())], { consensus })
      .outcome;

  test.each(policies)('X38: under %s a warning is never a pass: one pass too few escalates', (consensus) => {
    for (const { total, passes } of counts) {
      const borne = passes < total ? 'proceed_with_log' : 'proceed';
      const expected = passes < neededPasses(consensus, total) ? 'escalate' : borne;
      expect([total, passes, outcomeOf(passes, total, consensus)]).toEqual([total, passes, expected]);
    }
  });
});
