import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import { scriptedAgent } from '@fixpoint/models/agent/scripted-agent.fixture';
import { ModelFault } from '@fixpoint/models/model-fault';
import { afterEach, describe, expect, test } from '@jest/globals';
import { commandHolds, executorWorld } from './run-reader.fixture.ts';

let world: ReturnType<typeof executorWorld>;
afterEach(() => world.close());

/** One agent run of a node, by an agent that runs the commands of its script. */
const run = async (script: Parameters<typeof scriptedAgent>[0], node: Partial<NodeSpec>, mode = {}) => {
  world = executorWorld({ agent: scriptedAgent(script), mode });
  await world.offer(await world.gated({ agent_tools: ['run_command'], ...node }, { run_kind: 'agent' }));
  return { report: await world.report(), calls: await world.calls() };
};

const shown = (calls: readonly { tool: string; outcome: string }[]) =>
  calls.map(({ tool, outcome }) => `${tool} ${outcome}`);

describe('an agent run', () => {
  test('I-T06 is judged by the check alone; the recipe is not run', async () => {
    const { report, calls } = await run(['echo done > result'], {
      recipe: { command: 'touch recipe' },
      postcondition: commandHolds('grep -q done result && test ! -e recipe'),
    });
    expect(report).toMatchObject({ outcome: 'satisfied', rung: 'agent', postcondition_met: true });
    expect(report.spent).toMatchObject({ money_micros: 7, tokens: 11 });
    expect(shown(calls)).toEqual(['agent ok', 'agent_model ok', 'postcondition ok']);
    expect(report.workspace_ref).toMatchObject({ tree: expect.not.stringMatching(/^4b825dc/) });
  });

  test('that does not reach the goal is unmet, and keeps what was done', async () => {
    const { report } = await run(['echo > half'], { postcondition: commandHolds('test -e whole') });
    expect(report).toMatchObject({ outcome: 'unmet', rung: 'agent', postcondition_met: false });
    expect(report.workspace_ref).not.toBeNull();
  });

  test('for a gate works on the workspace, and the gate is run as it stands', async () => {
    const gate: Partial<NodeSpec> = {
      kind: 'gate',
      recipe: { command: 'touch of-the-gate; test -e mended' },
      postcondition: null,
    };
    const { report, calls } = await run(['touch mended'], gate);
    expect(report).toMatchObject({ outcome: 'satisfied', rung: 'recipe', postcondition_met: true });
    expect(shown(calls)).toEqual(['agent ok', 'agent_model ok', 'recipe ok']);
    const left = await world.workspaces.diffText(
      await world.workspaces.resolve(null),
      report.workspace_ref as never,
      10_000,
    );
    expect(left.files).toEqual([{ path: 'mended', change: 'added' }]);
  });

  test('of a node without a check runs its recipe unmodified', async () => {
    const { report } = await run(['touch mended'], { recipe: { command: 'test -e mended' }, policy: 'required' });
    expect(report).toMatchObject({ outcome: 'satisfied', rung: 'recipe', postcondition_met: null });
  });

  test('of a node whose output is checked runs its recipe for one', async () => {
    const postcondition = { all: [{ cel: 'output == 4', timeout_ms: 5_000 }] };
    const { report } = await run(['echo 4 > n'], { recipe: { command: 'cat n' }, postcondition });
    expect(report).toMatchObject({ outcome: 'satisfied', output: 4 });
  });

  test('obeys the command rules, command by command', async () => {
    const rule = { id: 'no-curl', deny: 'program == "curl"', message: 'no network' };
    const { report, calls } = await run(
      ['curl http://x.invalid', 'touch whole'],
      { postcondition: commandHolds('test -e whole') },
      {
        command_rules: [rule],
      },
    );
    expect(shown(calls)).toEqual(['agent denied', 'agent_model ok', 'postcondition failed']);
    expect(report).toMatchObject({ outcome: 'unmet' });
  });

  test('has tools for the files of the workspace, each call in the log', async () => {
    const { report, calls } = await run(
      [
        { tool: 'write_file', input: { path: 'src/a.txt', content: 'one\n' } },
        { tool: 'read_file', input: { path: 'src/a.txt', from_line: null } },
        { tool: 'list_files', input: { path: 'src' } },
        { tool: 'search', input: { text: 'one', path: '.' } },
        { tool: 'read_file', input: { path: 'gone', from_line: null } },
      ],
      {
        agent_tools: ['read_file', 'write_file', 'list_files', 'search'],
        postcondition: commandHolds('grep -q one src/a.txt'),
      },
    );
    expect(report).toMatchObject({ outcome: 'satisfied', rung: 'agent' });
    expect(calls.slice(0, 5)).toMatchObject([
      { command: 'write_file src/a.txt', outcome: 'ok', stdout: { head: 'one\n', bytes: 4 } },
      { command: 'read_file src/a.txt', outcome: 'ok', stdout: null },
      { command: 'list_files src', outcome: 'ok' },
      { command: 'search . "one"', outcome: 'ok' },
      { command: 'read_file gone', outcome: 'failed', detail: 'there is no file gone' },
    ]);
    const { hash } = (calls[0] as unknown as { stdout: { hash: string } }).stdout;
    expect(await world.artifactText(hash)).toBe('one\n');
  });

  test('can not leave the workspace by them, and the try is in the log', async () => {
    const { calls } = await run([{ tool: 'write_file', input: { path: '../escaped', content: '' } }], {
      agent_tools: ['write_file'],
      postcondition: commandHolds('test ! -e ../escaped'),
    });
    expect(calls[0]).toMatchObject({ command: 'write_file ../escaped', outcome: 'denied', rule: 'workspace' });
    expect(calls.at(-1)).toMatchObject({ tool: 'postcondition', outcome: 'ok' });
  });

  test('is held to the command rules with them', async () => {
    const rule = { id: 'no-ci', deny: 'program == "write_file" && args[0].startsWith(".ci/")', message: 'not there' };
    const { calls } = await run(
      [{ tool: 'write_file', input: { path: '.ci/run', content: '' } }],
      { agent_tools: ['write_file'], postcondition: commandHolds('test -e x') },
      { command_rules: [rule] },
    );
    expect(calls[0]).toMatchObject({ outcome: 'denied', rule: 'no-ci' });
  });

  test('is not told the environment of the service', async () => {
    process.env.FIXPOINT_TEST_SECRET = 'sesame';
    const { report } = await run(['env > seen'], { postcondition: commandHolds('! grep sesame seen') });
    delete process.env.FIXPOINT_TEST_SECRET;
    expect(report).toMatchObject({ outcome: 'satisfied' });
  });

  test('has no tool that the task does not allow', async () => {
    const { report, calls } = await run(['touch whole'], {
      agent_tools: [],
      postcondition: commandHolds('test -e whole'),
    });
    expect(shown(calls)).toEqual(['agent_model declined', 'postcondition failed']);
    expect(report).toMatchObject({ outcome: 'unmet', rung: 'skip' });
  });

  test('that touches what is protected is told from one that could not be checked', async () => {
    const gate: Partial<NodeSpec> = { kind: 'gate', recipe: { command: 'true' }, postcondition: null };
    const { report, calls } = await run(['mkdir tests && touch tests/a'], gate, { protected: ['tests/**'] });
    expect(report).toMatchObject({ outcome: 'indeterminate', firewall_broken: 'a protected path was changed' });
    expect(shown(calls)).toEqual(['agent ok', 'agent_model ok']);
  });

  test('whose provider does not answer is a fault of that class', async () => {
    const broken = {
      name: 'broken',
      run: () =>
        Promise.reject(
          new ModelFault({ provider: 'broken', faultClass: 'rate_limit', detail: 'HTTP 429', retryAfterMs: 20_000 }),
        ),
    };
    world = executorWorld({ agent: broken });
    await world.offer(await world.gated({ agent_tools: ['run_command'] }, { run_kind: 'agent' }));
    expect(await world.report()).toMatchObject({
      ...{ outcome: 'faulted', fault_class: 'rate_limit' },
      provider_fault: { provider: 'model.broken', retry_after_ms: 20_000 },
    });
  });

  test('is a fault where there is no agent', async () => {
    world = executorWorld();
    await world.offer(await world.gated({}, { run_kind: 'agent' }));
    expect(await world.report()).toMatchObject({ outcome: 'faulted', fault_class: 'internal' });
  });
});
