import { fold } from '@fixpoint/decider/decider';
import { given } from '@fixpoint/decider/given';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ActionCommand, type ActionEvent, action } from './action.ts';

const run = { root: 'r', task: 'r', address: '0', run: 1 };
const startedData = { ...run, owner: 'a', token_id: 't', run_kind: 'normal', node_id: 'n' };
const calledData = (seq: number) => ({
  ...run,
  seq,
  rung: 'recipe' as const,
  tool: 'recipe' as const,
  command: 'true',
  outcome: 'ok' as const,
  exit_code: 0,
  signal: null,
  duration_ms: 1,
  rule: null,
  detail: '',
  stdout: null,
  stderr: null,
});
const endedData = {
  ...run,
  node_id: 'n',
  run_kind: 'normal',
  outcome: 'satisfied' as const,
  fault_class: null,
  rung: 'recipe' as const,
  policy: 'required' as const,
  postcondition_met: true,
  exit_code: 0,
  recipe_hash: 'a'.repeat(64),
  repaired_command: null,
  workspace_ref: null,
  output: null,
  output_artifact: null,
  detail: '',
  firewall_broken: null,
  spent: { duration_ms: 1, money_micros: 0, tokens: 0 },
  merge_conflicts: null,
  provider_fault: null,
};
const lostData = { ...endedData, outcome: 'faulted' as const, fault_class: 'lost_executor' as const };
const refusedData = { ...run, reason: 'token_expired' as const, detail: '' };

const started: ActionEvent = { type: 'action_started', data: startedData };
const called = (seq: number): ActionEvent => ({ type: 'tool_called', data: calledData(seq) });
const ended: ActionEvent = { type: 'node_verified_action', data: endedData };
const refused: ActionEvent = { type: 'run_refused', data: refusedData };
const revoked: ActionEvent = { type: 'run_revoked', data: { ...run, reason: 'no_answer' } };

const start: ActionCommand = { type: 'start_action', data: startedData };
const refuse: ActionCommand = { type: 'refuse_run', data: refusedData };
const call = (seq: number, owner = 'a'): ActionCommand => ({ type: 'record_tool_call', owner, data: calledData(seq) });
const end = (owner = 'a'): ActionCommand => ({ type: 'end_run', owner, data: endedData, delivered: null });
const deliveredData = {
  ...{ root: 'r', task: 'r', address: '0', run: 1, url: 'https://git.example.org/shop.git' },
  ...{ branch: 'fixpoint/shop', commit: 'c'.repeat(40), already: false },
};
const delivered: ActionEvent = { type: 'result_delivered', data: deliveredData };
const endDelivered: ActionCommand = { type: 'end_run', owner: 'a', data: endedData, delivered: deliveredData };
const declareLost: ActionCommand = { type: 'declare_lost', data: lostData };
const inProcess: ActionCommand = {
  type: 'run_in_process',
  started: startedData,
  calls: [calledData(1)],
  ended: endedData,
};

describe('action', () => {
  describe('when unknown', () => {
    test('starts', () => given(action).when(start).then(started));
    test('S-T87 refuses the run instead of starting it', () => given(action).when(refuse).then(refused));
    test('does work that needs no process in one decision', () =>
      given(action).when(inProcess).then(started, called(1), ended));
    test('records no call of a run that has not started', () => given(action).when(call(1)).thenNothing());
    test('does not end', () => given(action).when(end()).thenNothing());
    test('is not lost', () => given(action).when(declareLost).thenNothing());
  });
  describe('when started', () => {
    test('S-T91 uses a token once', () => given(action, started).when(start).thenNothing());
    test('is never refused any more', () => given(action, started).when(refuse).thenNothing());
    test('does not run again in process', () => given(action, started).when(inProcess).thenNothing());
    test('records calls in order', () => given(action, started).when(call(1)).then(called(1)));
    test('ignores a call that it has', () => given(action, started, called(1)).when(call(1)).thenNothing());
    test('ignores a call out of order', () => given(action, started).when(call(2)).thenNothing());
    test('A17 lets nobody but its owner record or end', () => {
      given(action, started).when(call(1, 'b')).thenNothing();
      given(action, started).when(end('b')).thenNothing();
    });
    test('ends', () => given(action, started, called(1)).when(end()).then(ended));
    test('says in one decision that its result was delivered and how it ended', () =>
      given(action, started, called(1)).when(endDelivered).then(delivered, ended));
    test('is declared lost when its owner is gone', () =>
      given(action, started).when(declareLost).then({ type: 'node_verified_action', data: lostData }));
  });
  describe.each([
    ['ended', [started, ended]],
    ['revoked', [revoked]],
    ['refused', [refused]],
  ])('when %s', (_, history) => {
    test.each([start, refuse, call(1), end(), declareLost, inProcess])('nothing follows ($type)', (command) =>
      given(action, ...history)
        .when(command)
        .thenNothing(),
    );
  });

  const ways = [start, refuse, call(1), call(2), end(), end('b'), endDelivered, declareLost, inProcess] as const;
  const commands = fc.constantFrom(...ways);
  const historyOf = (script: readonly ActionCommand[]): ActionEvent[] => {
    const history: ActionEvent[] = [];
    for (const command of script) history.push(...action.decide(command, fold(action, action.initial, history)));
    return history;
  };
  test('any accepted command, sent again, changes nothing', () => {
    fc.assert(
      fc.property(fc.array(commands), commands, (script, command) => {
        expect(historyOf([...script, command, command])).toEqual(historyOf([...script, command]));
      }),
    );
  });
  test('has at most one start and one end', () => {
    fc.assert(
      fc.property(fc.array(commands), (script) => {
        const types = historyOf(script).map((event) => event.type);
        expect(types.filter((type) => type === 'action_started').length).toBeLessThanOrEqual(1);
        expect(types.filter((type) => type === 'node_verified_action').length).toBeLessThanOrEqual(1);
      }),
    );
  });
  test('folds any order of events without a fault', () => {
    const events = fc.constantFrom(started, called(1), called(2), delivered, ended, refused, revoked);
    fc.assert(fc.property(fc.array(events), (history) => fold(action, action.initial, history).status.length > 0));
  });
});
