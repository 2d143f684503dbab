import { fold } from '@fixpoint/decider/decider';
import { given } from '@fixpoint/decider/given';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type GateAnswer, type GateCommand, type GateEvent, gate, type Judgement } from './gate.ts';

const ref = { root: 'r1', task: 'r1', address: '0', run: 1 };
const halt = { halt_type: 'blocker', raw_halt_type: 'blocked', verdicts: [] } as const;

const passed: GateAnswer = {
  type: 'governance_passed',
  data: {
    ...ref,
    outcome: 'proceed',
    run_kind: 'normal',
    work: 'in_process',
    token: 'token',
    workspace_ref: null,
    verdicts: [],
    firewall_hash: 'f'.repeat(64),
  },
};
const passedWithAnotherToken: GateAnswer = { ...passed, data: { ...passed.data, token: 'other' } };
const blocked: GateAnswer = { type: 'governance_blocked', data: { ...ref, ...halt, outcome: 'halt', verdicts: [] } };
const escalated: GateAnswer = {
  type: 'governance_escalated',
  data: { ...ref, halt_type: 'escalate', raw_halt_type: 'warnings', verdicts: [] },
};
const fault = (phase: 'gate' | 'judge') =>
  ({ type: 'gate_faulted', data: { ...ref, phase, class: 'network', retry_after_ms: 0, detail: '' } }) as const;
const validated: Judgement = {
  type: 'post_validated',
  data: {
    ...ref,
    node_id: 'build',
    outcome: 'proceed',
    reason: 'passed',
    halt_type: null,
    raw_halt_type: null,
    verdicts: [],
    triggering_validators: [],
    signature: 'a'.repeat(64),
    workspace_ref: null,
  },
};

const ask = (answer: GateAnswer): GateCommand => ({ type: 'answer_gate', answer });
const judge = (judgement: Judgement): GateCommand => ({ type: 'judge_result', judgement });

describe('gate', () => {
  describe('when unknown', () => {
    test('lets the run start', () => given(gate).when(ask(passed)).then(passed));
    test('blocks it', () => given(gate).when(ask(blocked)).then(blocked));
    test('asks a human', () => given(gate).when(ask(escalated)).then(escalated));
    test('says that it could not tell', () =>
      given(gate)
        .when(ask(fault('gate')))
        .then(fault('gate')));
    test('refuses a judgement of a run that never started', () =>
      given(gate).when(judge(validated)).thenRefused('gate_unknown'));
  });

  describe('when passed', () => {
    test('S-T97: mints no second token', () => given(gate, passed).when(ask(passedWithAnotherToken)).thenNothing());
    test('does not take back that it passed', () => given(gate, passed).when(ask(blocked)).thenNothing());
    test('judges the result', () => given(gate, passed).when(judge(validated)).then(validated));
    test('says that it could not judge', () =>
      given(gate, passed)
        .when(judge(fault('judge')))
        .then(fault('judge')));
  });

  describe.each([
    ['blocked', blocked],
    ['escalated', escalated],
    ['faulted', fault('gate')],
  ] as const)('when %s', (_, stopped) => {
    test('ignores another answer', () => given(gate, stopped).when(ask(passed)).thenNothing());
    test('ignores a late judgement', () => given(gate, stopped).when(judge(validated)).thenNothing());
  });

  describe('when the judge could not judge', () => {
    test('ignores a second judgement: another run is under way', () =>
      given(gate, passed, fault('judge')).when(judge(validated)).thenNothing());
  });

  describe('when judged', () => {
    const history = [passed, validated];
    test('ignores another judgement', () =>
      given(gate, ...history)
        .when(judge({ ...validated, data: { ...validated.data, outcome: 'halt' } }))
        .thenNothing());
    test('ignores a late fault', () =>
      given(gate, ...history)
        .when(judge(fault('judge')))
        .thenNothing());
    test('ignores another answer of the gate', () =>
      given(gate, ...history)
        .when(ask(passed))
        .thenNothing());
  });
});

const answers: readonly GateAnswer[] = [passed, passedWithAnotherToken, blocked, escalated, fault('gate')];
const judgements: readonly Judgement[] = [validated, fault('judge')];
const commands = fc.constantFrom(...answers.map(ask), ...judgements.map(judge));
const events = fc.constantFrom<GateEvent>(...answers, ...judgements);

/** History after a script; refusals leave it as it is. */
const run = (script: readonly GateCommand[]): GateEvent[] => {
  const history: GateEvent[] = [];
  for (const command of script) {
    try {
      history.push(...gate.decide(command, fold(gate, gate.initial, history)));
    } catch {
      // Refused: nothing happened.
    }
  }
  return history;
};

describe('gate, whatever happens', () => {
  test('a command that comes again changes nothing', () => {
    fc.assert(
      fc.property(fc.array(commands), commands, (script, command) => {
        expect(run([...script, command, command])).toEqual(run([...script, command]));
      }),
    );
  });

  test('INV1: at most one token, as the first event, and at most one judgement after it', () => {
    fc.assert(
      fc.property(fc.array(commands), (script) => {
        const types = run(script).map(({ type, data }) =>
          type === 'gate_faulted' ? `${type} ${'phase' in data && data.phase}` : type,
        );
        expect(types.slice(0, 1)).not.toContain('post_validated');
        expect(types.slice(1)).toEqual(types[0] === 'governance_passed' ? types.slice(1, 2) : []);
      }),
    );
  });

  test('any order of events can be folded', () => {
    fc.assert(
      fc.property(fc.array(events), (history) => {
        expect(['unknown', 'passed', 'stopped', 'judged']).toContain(fold(gate, gate.initial, history));
      }),
    );
  });
});
