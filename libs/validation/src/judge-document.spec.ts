import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import { describe, expect, test } from '@jest/globals';
import { judgeCommandRules, judgeDocument, judgeGovernance } from './judge-document.ts';

const node: NodeSpec = {
  id: 'build',
  kind: 'action',
  goal: 'It builds',
  recipe: { command: 'make' },
  postcondition: { all: [{ command: 'test -f out', timeout_ms: 1000 }] },
  policy: 'required',
  max_repair_attempts: 0,
  max_agent_attempts: 0,
  model: 'default',
  agent_tools: [],
  env: {},
  timeout_ms: 1000,
};
const checking = (check: Extract<NodeSpec['postcondition'], object>['all'][number]): NodeSpec => ({
  ...node,
  postcondition: { all: [check] },
});

describe('the document validator', () => {
  test.each([
    ['a well-formed node', node],
    ['a gate', { ...node, kind: 'gate', postcondition: null }],
    [
      'a compute node with a check of its output',
      { ...checking({ cel: 'output == 1', timeout_ms: 1 }), kind: 'compute' },
    ],
    ['a node with a condition and a file', { ...node, if: 'inputs.a == 1', output_file: 'a/b' }],
  ])('passes %s', (_, document) => {
    expect(judgeDocument(document).answer).toBe('pass');
  });

  test.each([
    ['a node without a recipe', { ...node, recipe: {} }],
    ['a node with an unknown key', { ...node, recipes: [] }],
    ['an expression that cannot be used', checking({ cel: 'output ==', timeout_ms: 1 })],
    ['a schema that cannot be used', checking({ json_schema: { type: 'nothing' }, timeout_ms: 1 })],
    ['nothing', null],
    ['a gate with a postcondition', { ...node, kind: 'gate' }],
    ['a gate with another policy', { ...node, kind: 'gate', postcondition: null, policy: 'best_effort' }],
    ['a gate that is repaired', { ...node, kind: 'gate', postcondition: null, max_repair_attempts: 1 }],
    ['a compute node that nothing is said about', { ...node, kind: 'compute' }],
    ['a node whose references have no values', { ...node, templated: true }],
  ])('objects to %s', (_, document) => {
    expect(judgeDocument(document).answer).toBe('fail');
  });
});

describe('the command rule validator', () => {
  const rules = { command_rules: [{ id: 'no_curl', deny: 'program == "curl"', message: 'no downloads' }] };
  const objects = (changed: Partial<NodeSpec>) => judgeCommandRules({ ...node, ...changed }, rules);

  test('looks at recipe and postcondition', () => {
    expect(objects({}).answer).toBe('pass');
    expect(objects({ recipe: { command: 'curl x' } })).toMatchObject({
      answer: 'fail',
      findings: [{ rule: 'no_curl' }],
    });
    expect(objects({ recipe: { script: 'curl x', language: 'sh' } }).answer).toBe('fail');
    expect(objects({ postcondition: { all: [{ command: 'curl x', timeout_ms: 1 }] } }).answer).toBe('fail');
    expect(objects({ recipe: { primitive: 'counter', with: {} }, postcondition: null }).answer).toBe('pass');
  });
});

describe('governance rules', () => {
  const rule = (deny: string) => ({ id: 'r', deny, severity: 'blocker', overridable: false, message: 'no' }) as const;
  const ask = (deny: string) =>
    judgeGovernance({ governance_rules: [rule(deny)] }, { task: { project: 'web' }, node }).map(
      ({ answer }) => answer.answer,
    );

  test.each([
    ['task.project == "web"', ['fail']],
    ['node.kind == "gate"', ['pass']],
    ['task.owner == "x"', ['error']],
    ['task.project ==', ['error']],
  ])('%s: %s', (deny, expected) => {
    expect(ask(deny)).toEqual(expected);
  });

  test('that are none ask nothing', () => {
    expect(judgeGovernance({ governance_rules: [] }, { task: {}, node })).toEqual([]);
  });
});
