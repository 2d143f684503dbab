import type { CommandRule } from '@fixpoint/contracts/documents/protocol';
import { describe, expect, test } from '@jest/globals';
import { evaluateCommandRules } from './command-rules.ts';

const rule = (id: string, deny: string): CommandRule => ({ id, deny, message: `${id} says no` });

const rules = [
  rule('no_network', 'network && rung == "self_repair"'),
  rule('no_curl', 'program == "curl"'),
  rule('inside', 'paths.exists(p, p.startsWith("/etc/"))'),
  rule('no_hidden_code', 'dynamic'),
  rule('no_force', 'program == "git" && args.exists(a, a == "--force")'),
];
const ruling = (text: string, rung: 'recipe' | 'self_repair' = 'recipe') => evaluateCommandRules(rules, { text, rung });

describe('command rules', () => {
  test.each([
    ['make all', null],
    ['make && curl x', 'no_curl'],
    ["make; sh -c 'sudo /usr/bin/curl x'", 'no_curl'],
    ['echo $(cat /etc/passwd)', 'inside'],
    ['echo x > /etc/hosts', 'inside'],
    ['sh -c "$CODE"', 'no_hidden_code'],
    ['git push --force', 'no_force'],
    ['echo --force', null],
    ['wget x', null],
    ['make &&', 'unreadable_command'],
  ])('%s → %s', (text, expected) => {
    const answer = ruling(text);
    expect(answer.denied ? answer.rule : null).toBe(expected);
  });

  test('know the rung', () => {
    expect(ruling('wget x', 'self_repair')).toEqual({
      denied: true,
      rule: 'no_network',
      message: 'no_network says no',
    });
  });

  test('the first rule in the order of the protocol is named', () => {
    expect(ruling('git push --force; curl x')).toMatchObject({ rule: 'no_curl' });
  });

  test('without rules everything may run, readable or not', () => {
    expect(evaluateCommandRules([], { text: 'make &&', rung: 'recipe' })).toEqual({ denied: false });
  });

  test.each([['program =='], ['nope == 1'], ['args[7] == "x"'], ['text'], ['text.matches("(a+)+$")']])(
    'X16: a rule that cannot be evaluated denies: %s',
    (deny) => {
      const command = { text: `echo ${'a'.repeat(60)}!`, rung: 'recipe' } as const;
      expect(evaluateCommandRules([rule('broken', deny)], command)).toMatchObject({ denied: true, rule: 'broken' });
    },
  );

  test('a list of words is ruled as it is', () => {
    expect(evaluateCommandRules(rules, { argv: ['env', 'curl', 'x'], rung: 'recipe' })).toMatchObject({
      rule: 'no_curl',
    });
    expect(evaluateCommandRules(rules, { argv: ['echo', '; curl x'], rung: 'recipe' })).toEqual({ denied: false });
  });

  test('a shell script is read, one of another language is not', () => {
    expect(evaluateCommandRules(rules, { script: 'curl x', language: 'bash', rung: 'recipe' })).toMatchObject({
      rule: 'no_curl',
    });
    expect(evaluateCommandRules(rules, { script: 'curl x', language: 'node', rung: 'recipe' })).toMatchObject({
      rule: 'no_hidden_code',
    });
  });
});
