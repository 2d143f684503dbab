import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import { describe, expect, test } from '@jest/globals';
import { changedProtectedPaths, firewallHash, protectedHash } from './firewall.ts';

const mode: ModeSpec = {
  governance_rules: [],
  command_rules: [],
  pre: [],
  post: [],
  consensus: 'unanimous',
  recover_on: ['blocker'],
  protected: [],
  bounds: {
    max_recovery_depth: 3,
    max_total_fix_attempts: 10,
    iterations: 50,
    execute: 3,
    judge: 2,
    indeterminate: 3,
    max_decomposition_depth: 2,
    max_total_decomposition_children: 8,
    faults: 5,
    deadline_ms: 1,
    auto_agent_max_attempts: 1,
    integrate: 1,
    max_recompose_attempts: 1,
    regates: 1,
    max_money_micros: 0,
    max_tokens: 0,
    run_money_micros: 0,
    run_tokens: 0,
  },
  backoffs: {},
  handoff_expiry_ms: 1,
  handoff_warnings: [],
  handoff_on_expiry: 'keep',
  auto_agent_model: null,
  council_timeout_ms: 1,
  hop_slack_ms: 1,
  fix_timeout_ms: 1,
};
const node: NodeSpec = {
  id: 'build',
  kind: 'action',
  goal: 'It is built',
  recipe: { command: 'make' },
  postcondition: { all: [{ command: 'npm test', timeout_ms: 1000 }] },
  policy: 'required',
  max_repair_attempts: 0,
  max_agent_attempts: 0,
  model: 'default',
  agent_tools: [],
  env: {},
  timeout_ms: 1000,
};

describe('firewall hash', () => {
  const hash = firewallHash({ node, mode });

  test.each([
    ['the recipe', { node: { ...node, recipe: { command: 'curl x' } }, mode }],
    ['a variable', { node: { ...node, env: { LD_PRELOAD: './x.so' } }, mode }],
    ['the postcondition', { node: { ...node, postcondition: { all: [{ command: 'true', timeout_ms: 1000 }] } }, mode }],
    ['its absence', { node: { ...node, postcondition: null }, mode }],
    ['a command rule', { node, mode: { ...mode, command_rules: [{ id: 'a', deny: 'network', message: '' }] } }],
    ['a protected path', { node, mode: { ...mode, protected: ['tests/**'] } }],
    ['the consensus', { node, mode: { ...mode, consensus: 'any' as const } }],
  ])('changes with %s', (_, changed) => {
    expect(firewallHash(changed)).not.toBe(hash);
  });

  test('does not change with how long things may take', () => {
    expect(firewallHash({ node, mode: { ...mode, handoff_expiry_ms: 2 } })).toBe(hash);
  });
});

describe('protected paths', () => {
  test.each([
    ['tests/**', 'tests/a/b.ts', true],
    ['tests', 'tests/a/b.ts', true],
    ['./tests/', 'tests/a/b.ts', true],
    ['tests', 'tests.ts', false],
    ['**/*.yml', '.github/workflows/ci.yml', true],
    ['*', '.env', true],
    ['.github', '.github/workflows/ci.yml', true],
    ['*.lock', 'a/yarn.lock', false],
    ['**/*.lock', 'a/yarn.lock', true],
    ['{a,b}/*.ts', 'b/x.ts', true],
    ['src/*.ts', 'src/x.js', false],
  ])('%s covers %s: %s', (glob, path, expected) => {
    expect(changedProtectedPaths([glob], [path])).toEqual(expected ? [path] : []);
  });

  test('are named once and sorted', () => {
    expect(changedProtectedPaths(['t/**', '**'], ['t/b', 'a', 't/b'])).toEqual(['a', 't/b']);
    expect(changedProtectedPaths([], ['a'])).toEqual([]);
  });

  test('have one hash, whatever their order, and other files do not count', () => {
    const hash = protectedHash(
      ['t'],
      [
        { path: 't/a', hash: '1' },
        { path: 't/b', hash: '2' },
      ],
    );
    expect(
      protectedHash(
        ['t'],
        [
          { path: 'x', hash: '9' },
          { path: 't/b', hash: '2' },
          { path: 't/a', hash: '1' },
        ],
      ),
    ).toBe(hash);
    expect(protectedHash(['t'], [{ path: 't/a', hash: '1' }])).not.toBe(hash);
    expect(
      protectedHash(
        ['t'],
        [
          { path: 't/a', hash: '1' },
          { path: 't/b', hash: '3' },
        ],
      ),
    ).not.toBe(hash);
  });
});
