import type { Check } from '@fixpoint/contracts/documents/task';
import type { CommandResult, Output } from '@fixpoint/execution/runner';
import { describe, expect, test } from '@jest/globals';
import { type CheckDeps, type CheckResult, commandCheckResult, evaluatePostcondition } from './checks.ts';

const nothing: Output = { hash: null, sha256: '', bytes: 0, head: '', tail: '', truncated: false };
const ended = (result: Partial<CommandResult>): CommandResult => ({
  status: 'exited',
  exitCode: 0,
  signal: null,
  durationMs: 5,
  stdout: nothing,
  stderr: nothing,
  leftovers: 0,
  survivors: [],
  error: null,
  ...result,
});

describe('a command that is run as a check', () => {
  test.each<[string, Partial<CommandResult>, object]>([
    ['is met by exit code 0', {}, { outcome: 'met' }],
    ['is unmet by another exit code', { exitCode: 1 }, { outcome: 'unmet', detail: 'exit code 1' }],
    ['is unmet by a code above 128 that is no signal', { exitCode: 128 }, { outcome: 'unmet' }],
    ['is unmet by usage errors of git', { exitCode: 129 }, { outcome: 'unmet' }],
    ['is unmet by 255', { exitCode: 255 }, { outcome: 'unmet' }],
    ['that is not found says nothing', { exitCode: 127 }, { outcome: 'indeterminate', reason: 'not_started' }],
    ['that cannot be executed says nothing', { exitCode: 126 }, { outcome: 'indeterminate', reason: 'not_started' }],
    ['whose child was killed says nothing', { exitCode: 137 }, { outcome: 'indeterminate', reason: 'killed' }],
    ['that crashed says nothing', { exitCode: 139 }, { outcome: 'indeterminate', reason: 'killed' }],
    [
      'that was killed says nothing',
      { status: 'signaled', exitCode: null, signal: 'SIGKILL' },
      { outcome: 'indeterminate', reason: 'killed' },
    ],
    ['without an exit code says nothing', { exitCode: null }, { outcome: 'indeterminate', reason: 'killed' }],
    [
      'that timed out says nothing',
      { status: 'timed_out', exitCode: null },
      { outcome: 'indeterminate', reason: 'timed_out' },
    ],
    [
      'that was cancelled says nothing',
      { status: 'cancelled', exitCode: null },
      { outcome: 'indeterminate', reason: 'cancelled' },
    ],
    [
      'that could not be started says nothing',
      { status: 'not_started', exitCode: null, error: { code: 'cwd_missing', detail: '/x is no folder' } },
      { outcome: 'indeterminate', reason: 'not_started', detail: '/x is no folder' },
    ],
  ])('%s', (_, result, expected) => {
    expect(commandCheckResult(ended(result))).toMatchObject(expected);
  });
});

const met: CheckResult = { outcome: 'met', detail: '' };
const unmet: CheckResult = { outcome: 'unmet', detail: 'no' };
const killed: CheckResult = { outcome: 'indeterminate', reason: 'killed', detail: '' };

const worldWhere = (answers: Readonly<Record<string, CheckResult>>, more: Partial<CheckDeps> = {}) => {
  const asked: string[] = [];
  const say = async (name: string): Promise<CheckResult> => {
    asked.push(name);
    return answers[name] ?? met;
  };
  const deps: CheckDeps = {
    command: say,
    primitive: say,
    evidence: { output: null, exitCode: 0, stdout: '', stderr: '' },
    ...more,
  };
  return { deps, asked };
};
const commands = (...names: string[]): { all: Check[] } => ({
  all: names.map((command) => ({ command, timeout_ms: 1000 })),
});

describe('a postcondition', () => {
  test.each<{ name: string; results: CheckResult[]; says: CheckResult; asked: string[] }>([
    { name: 'is met when all its checks are', results: [met, met], says: met, asked: ['c0', 'c1'] },
    { name: 'is unmet by one; the rest is not asked', results: [met, unmet, met], says: unmet, asked: ['c0', 'c1'] },
    { name: 'says nothing when one could not run', results: [killed, met], says: killed, asked: ['c0', 'c1'] },
    { name: 'is unmet when another one could not run', results: [killed, unmet], says: unmet, asked: ['c0', 'c1'] },
  ])('$name', async ({ results, says, asked }) => {
    const world = worldWhere(Object.fromEntries(results.map((result, at) => [`c${at}`, result])));
    expect(await evaluatePostcondition(commands(...results.map((_, at) => `c${at}`)), world.deps)).toEqual(says);
    expect(world.asked).toEqual(asked);
  });

  test('starts no check after an abort', async () => {
    const world = worldWhere({}, { signal: AbortSignal.abort() });
    expect(await evaluatePostcondition(commands('a'), world.deps)).toMatchObject({ reason: 'cancelled' });
    expect(world.asked).toEqual([]);
  });

  const checkOutput = (check: Check, output: CheckDeps['evidence']['output'], exitCode: number | null = 0) =>
    evaluatePostcondition(
      { all: [check] },
      worldWhere({}, { evidence: { output, exitCode, stdout: 'done', stderr: '' } }).deps,
    );
  const schema = (json_schema: Extract<Check, { json_schema: unknown }>['json_schema']): Check => ({
    json_schema,
    timeout_ms: 500,
  });
  const cel = (text: string): Check => ({ cel: text, timeout_ms: 500 });

  test('asks a schema about the output', async () => {
    const wants = schema({ type: 'object', required: ['n'], properties: { n: { type: 'integer' } } });
    expect(await checkOutput(wants, { n: 3 })).toEqual(met);
    expect(await checkOutput(wants, { n: 'secret-value' })).toEqual({
      outcome: 'unmet',
      detail: 'output/n must be integer',
    });
    expect(await checkOutput(wants, null)).toMatchObject({ outcome: 'unmet' });
  });

  test('with a schema that cannot be used says nothing', async () => {
    expect(await checkOutput(schema({ type: 'no-such-type' }), 1)).toMatchObject({ reason: 'wrong_check' });
    expect(await checkOutput(schema({ $ref: 'https://example.org/other.json' }), 1)).toMatchObject({
      reason: 'wrong_check',
    });
  });

  test('may use two schemas of one name', async () => {
    expect(await checkOutput(schema({ $id: 'https://example.org/a', type: 'integer' }), 1)).toEqual(met);
    expect(await checkOutput(schema({ $id: 'https://example.org/a', type: 'string' }), 1)).toMatchObject({
      outcome: 'unmet',
    });
  });

  test('with a pattern that never ends is stopped', async () => {
    const wants: Check = { json_schema: { type: 'string', pattern: '^(a+)+$' }, timeout_ms: 50 };
    expect(await checkOutput(wants, `${'a'.repeat(60)}!`)).toMatchObject({
      outcome: 'indeterminate',
      reason: 'timed_out',
    });
    const asks: Check = { cel: 'output.matches("^(a+)+$")', timeout_ms: 50 };
    expect(await checkOutput(asks, `${'a'.repeat(60)}!`)).toMatchObject({
      outcome: 'indeterminate',
      reason: 'timed_out',
    });
  });

  test.each<[string, string]>([
    ['output.n == 3', 'met'],
    ['output.n > 3', 'unmet'],
    ['exit_code == 0 && stdout == "done"', 'met'],
    ['output.items.all(i, i.ok)', 'met'],
    ['output.missing == 1', 'unmet'],
    ['has(output.missing)', 'unmet'],
    ['output.n + "x" == ""', 'unmet'],
    ['output.n ==', 'indeterminate'],
    ['unknown_name == 1', 'indeterminate'],
    ['"text"', 'indeterminate'],
    ['output.n', 'indeterminate'],
    ['1 + "x" == 2', 'indeterminate'],
  ])('asks an expression about the evidence: %s', async (text, outcome) => {
    expect(await checkOutput(cel(text), { n: 3, items: [{ ok: true }] })).toMatchObject({ outcome });
  });

  test.each(['exit_code == 0', 'exit_code != 0', 'exit_code < 1'])(
    '%s does not hold when nothing gave one',
    async (text) => {
      expect(await checkOutput(cel(text), null, null)).toMatchObject({ outcome: 'unmet' });
    },
  );

  test('E9: what an expression fails on is not repeated', async () => {
    const result = await checkOutput(cel('int(output.token) == 1'), { token: 'hunter2-secret' });
    expect(result.outcome).toBe('unmet');
    expect(result.detail).not.toContain('hunter2');
  });
});
