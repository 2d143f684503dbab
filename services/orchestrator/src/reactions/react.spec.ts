import type { EventNamed, EventType } from '@fixpoint/contracts/events/catalogue';
import { describe, expect, test } from '@jest/globals';
import type { RunResult } from '../domain/lineage/commands.ts';
import { react } from './react.ts';

const RUN = { root: 'r', task: 't', address: '0~1', run: 3 };

/** Only what a reaction looks at: events were parsed before. */
const event = <Type extends EventType>(type: Type, data: object): EventNamed<EventType> =>
  ({ type, data: { ...RUN, ...data } }) as unknown as EventNamed<Type>;

describe('a reaction', () => {
  test.each([
    ['governance_blocked', { outcome: 'halt' }, 'block_run'],
    ['governance_escalated', {}, 'escalate_run'],
    ['run_refused', { reason: 'token_expired' }, 'refuse_run'],
    ['node_verified_action', { outcome: 'unmet', firewall_broken: null }, 'end_run'],
    ['node_verified_action', { outcome: 'faulted', firewall_broken: null }, 'end_run'],
    ['node_verified_action', { outcome: 'satisfied', firewall_broken: 'ci.yml' }, 'end_run'],
    ['split_decided', { request: 1 }, 'decide_split'],
    ['council_faulted', { request: 1, class: 'rate_limit', retry_after_ms: 7, detail: 'd' }, 'give_up_request'],
    ['dead_lettered', { reader: 'x' }, 'dead_letter'],
  ] as const)('to %s %j is the command %s', (type, data, command) => {
    expect(react(event(type, data))).toMatchObject({ reaction: 'command', root: 'r', command: { type: command } });
  });

  test.each(['satisfied', 'degraded'])('to a result that is %s is to remember it until it is judged', (outcome) => {
    expect(react(event('node_verified_action', { outcome, firewall_broken: null }))).toMatchObject({
      reaction: 'remember',
    });
  });

  test('to a judgement is a command on the result that was judged', () => {
    const reaction = react(event('post_validated', { outcome: 'proceed' }));
    if (reaction.reaction !== 'command_on_result') throw new Error(reaction.reaction);
    expect(reaction).toMatchObject({ root: 'r', task: 't', run: 3 });
    const result = { ...RUN } as RunResult;
    expect(reaction.commandOn(result)).toMatchObject({ type: 'judge_run', judgement: { outcome: 'proceed' }, result });
  });

  test('to a fault of the gate is a fault without a result', () => {
    const reaction = react(event('gate_faulted', { phase: 'gate', class: 'network', retry_after_ms: 7, detail: 'd' }));
    expect(reaction).toMatchObject({
      reaction: 'command',
      command: { type: 'fault_run', phase: 'gate', class: 'network', retryAfterMs: 7, effects: 'none', result: null },
    });
  });

  test('to a fault of the judge is a fault on the result that nobody could judge', () => {
    const reaction = react(event('gate_faulted', { phase: 'judge', class: 'network', retry_after_ms: 0, detail: 'd' }));
    if (reaction.reaction !== 'command_on_result') throw new Error(reaction.reaction);
    const result = { ...RUN } as RunResult;
    expect(reaction.commandOn(result)).toMatchObject({ type: 'fault_run', phase: 'judge', result });
  });

  test('to anything else, or to what concerns no lineage, is none', () => {
    expect(react(event('governance_passed', {})).reaction).toBe('ignore');
    expect(react(event('dead_lettered', { root: null })).reaction).toBe('ignore');
  });
});
