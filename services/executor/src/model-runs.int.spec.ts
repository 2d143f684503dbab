import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import { configuredModels } from '@fixpoint/models/configured-models';
import { modelsSchema } from '@fixpoint/models/model-settings';
import {
  type Answer,
  chatAnswer,
  chatToolCall,
  type ProviderServer,
  providerServer,
} from '@fixpoint/models/sdk/provider-server.fixture';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { commandHolds, executorWorld } from './run-reader.fixture.ts';

let server: ProviderServer;
beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.close());

let world: ReturnType<typeof executorWorld>;
afterEach(() => world.close());

const NODE: Partial<NodeSpec> = {
  recipe: { command: 'echo nearly > result; echo it is misspelt >&2; false' },
  postcondition: commandHolds('grep -q right result'),
  ...{ policy: 'recover', max_repair_attempts: 2, model: 'smith' },
};
const ALLOWANCE = { time_ms: 60_000, money_micros: 1_000_000, tokens: 500_000 };

/** One run whose models are asked over the wire. */
const run = async (
  answers: readonly Answer[],
  { node = {}, kind = 'normal' as 'normal' | 'agent', allowance = ALLOWANCE } = {},
) => {
  server.answers(...answers);
  const price = { input: 3_000_000, output: 15_000_000 };
  const models = modelsSchema.parse({ smith: { model: `openai-compatible:qwen3@${server.url}/v1`, price } });
  const configured = configuredModels({ models, keys: {}, rules: [] });
  world = executorWorld({ models: configured });
  await world.offer(await world.gated({ ...NODE, ...node }, { run_kind: kind, allowance }));
  return { report: await world.report(), calls: await world.calls() };
};

const says = (corrected: string | null) =>
  chatAnswer({ content: JSON.stringify({ corrected, reasoning: 'Spelling.' }) });
const LATER: Answer = { status: 429, headers: { 'retry-after': '30' }, body: {} };

describe('a run whose model is asked over the wire', () => {
  test('I-T05 runs what it proposes like any command, and the check decides', async () => {
    const { report, calls } = await run([says('echo wrong > result'), says('echo right > result')]);
    expect(report).toMatchObject({
      outcome: 'satisfied',
      rung: 'self_repair',
      repaired_command: 'echo right > result',
    });
    expect(report.spent).toMatchObject({ money_micros: 1_200, tokens: 240 });
    expect(calls.map(({ tool, outcome, rule }) => [tool, outcome, rule])).toEqual([
      ['postcondition', 'failed', null],
      ['recipe', 'failed', null],
      ['postcondition', 'failed', null],
      ['repair_model', 'ok', 'smith'],
      ['self_repair', 'ok', 'smith'],
      ['postcondition', 'failed', null],
      ['repair_model', 'ok', 'smith'],
      ['self_repair', 'ok', 'smith'],
      ['postcondition', 'ok', null],
    ]);
  });

  test('is a fault with its wait when the provider fails, and what was spent before is in it', async () => {
    const { report } = await run([says('echo wrong > result'), LATER]);
    expect(report).toMatchObject({
      ...{ outcome: 'faulted', fault_class: 'rate_limit' },
      provider_fault: { provider: 'model.smith', retry_after_ms: 30_000 },
      spent: { money_micros: 600, tokens: 120 },
    });
  });

  test('asks nobody with an allowance that does not pay for it', async () => {
    const before = server.asked.length;
    const { report, calls } = await run([LATER], { allowance: { ...ALLOWANCE, tokens: 500 } });
    expect(report).toMatchObject({ outcome: 'unmet', spent: { tokens: 0 } });
    expect(calls.at(-1)).toMatchObject({ tool: 'repair_model', outcome: 'declined' });
    expect(server.asked.length).toBe(before);
  });

  test('is a fault where no model has that name', async () => {
    const { report } = await run([LATER], { node: { model: 'brand' } });
    expect(report).toMatchObject({ outcome: 'faulted', fault_class: 'internal', provider_fault: null });
  });

  test('lets it work as an agent with the tools of the task', async () => {
    const write = chatToolCall('write_file', { path: 'result', content: 'right\n' });
    const { report, calls } = await run([write, chatAnswer({ content: 'Written.' })], {
      ...{ kind: 'agent' as const },
      node: { agent_tools: ['write_file'] },
    });
    expect(report).toMatchObject({ outcome: 'satisfied', rung: 'agent', spent: { tokens: 240 } });
    expect(calls).toMatchObject([
      { tool: 'agent', command: 'write_file result', outcome: 'ok' },
      { tool: 'agent_model', command: 'smith', outcome: 'ok', detail: 'Written.' },
      { tool: 'postcondition', outcome: 'ok' },
    ]);
  });

  test('I-T06 lets it work as an agent when no repair has helped, told what failed; the check decides', async () => {
    const before = server.asked.length;
    const write = chatToolCall('write_file', { path: 'result', content: 'right\n' });
    const { report, calls } = await run([says(null), write, chatAnswer({ content: 'Written.' })], {
      node: { max_agent_attempts: 1, agent_tools: ['write_file'] },
    });
    expect(report).toMatchObject({ outcome: 'satisfied', rung: 'agent', spent: { tokens: 360 } });
    expect(calls.slice(3).map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['repair_model', 'declined'],
      ['agent', 'ok'],
      ['agent_model', 'ok'],
      ['postcondition', 'ok'],
    ]);
    expect(JSON.stringify(server.asked[before + 1]?.body)).toContain('it is misspelt');
  });
});
