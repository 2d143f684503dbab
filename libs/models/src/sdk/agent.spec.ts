import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentModelContract } from '../agent/agent-model.contract.ts';
import type { AgentModel, AgentToolResult } from '../agent/agent-model.ts';
import type { AgentCall } from '../agent/agent-tools.ts';
import { configuredModels } from '../configured-models.ts';
import { modelAccount } from '../model-account.ts';
import { modelsSchema } from '../model-settings.ts';
import {
  anthropicAnswer,
  chatAnswer,
  chatToolCall,
  type ProviderServer,
  providerServer,
} from './provider-server.fixture.ts';

let server: ProviderServer;
beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.close());

const agent = (address = `openai-compatible:qwen3@${server.url}/v1`): AgentModel => {
  const price = { input: 3_000_000, output: 15_000_000 };
  const models = modelsSchema.parse({ smith: { model: address, price } });
  const smith = configuredModels({ models, keys: {}, rules: [] }).agent('smith');
  if (smith === null) throw new Error('there is no smith');
  return smith;
};

const DOABLE = {
  intent: 'a',
  goal: 'there is a file',
  recipe: 'false',
  postcondition: null,
  brief: null,
  failed: null,
};
const DONE = chatAnswer({ content: 'The file is there.' });
const touch = (file: string) => chatToolCall('run_command', { command: `touch ${file}` });

agentModelContract('a language model', async () => {
  server.answers(touch('a'), DONE);
  return { model: agent(), doable: DOABLE };
});

/** Lets it work; every call of a tool prints the same. */
const work = async (
  model = agent(),
  { allowance = { money_micros: 1_000_000, tokens: 500_000 }, printed = 'done', mostSteps = 10 } = {},
) => {
  const account = modelAccount(allowance);
  const calls: AgentCall[] = [];
  const before = server.asked.length;
  const call = async (each: AgentCall): Promise<AgentToolResult> => {
    calls.push(each);
    return { outcome: 'failed', exitCode: 3, stdout: printed, stderr: '', detail: '' };
  };
  const means = { tools: { allowed: ['run_command'] as const, call }, account, mostSteps };
  const outcome = await model
    .run(DOABLE, means, new AbortController().signal)
    .then((done) => ({ done, error: null }))
    .catch((error: unknown) => ({ done: null, error }));
  return { ...outcome, calls, spent: account.spent(), requests: server.asked.slice(before) };
};

describe('a language model with tools', () => {
  test('is told what each of them printed, as data, and ends with its own words', async () => {
    server.answers(touch('a'), touch('b'), DONE);
    const { done, calls, spent, requests } = await work();
    expect(done).toEqual({ outcome: 'worked', summary: 'The file is there.' });
    expect(calls).toEqual(['a', 'b'].map((file) => ({ tool: 'run_command', input: { command: `touch ${file}` } })));
    expect(spent).toEqual({ money_micros: 1_800, tokens: 360 });
    expect(requests).toHaveLength(3);
    expect(JSON.stringify(requests[1]?.body)).toMatch(/failed, exit code 3\\n<output-[0-9a-f]{16}>\\ndone/);
  });

  test('of Anthropic', async () => {
    server.answers(
      anthropicAnswer(
        [{ type: 'tool_use', id: 'toolu_1', name: 'run_command', input: { command: 'touch a' } }],
        'tool_use',
      ),
      anthropicAnswer([{ type: 'text', text: 'Done.' }]),
    );
    const { done, calls } = await work(agent(`anthropic:claude-sonnet-4-5@${server.url}/v1`));
    expect(done).toEqual({ outcome: 'worked', summary: 'Done.' });
    expect(calls).toHaveLength(1);
  });

  test.each([
    ['a tool that it does not have', chatToolCall('sudo', { command: 'true' })],
    ['another shape', chatToolCall('run_command', { text: 'true' })],
    ['garbled JSON', chatToolCall('run_command', '{"command": "tr')],
  ])('is told that it called %s, and nothing is run', async (_, answer) => {
    server.answers(answer, DONE);
    const { done, calls, requests } = await work();
    expect(done).toMatchObject({ outcome: 'declined' });
    expect(calls).toEqual([]);
    expect(requests).toHaveLength(2);
  });

  test('stops before the question that its account does not pay for', async () => {
    server.answers(touch('a'));
    const { done, spent, requests } = await work(agent(), {
      allowance: { money_micros: 1_000_000, tokens: 40_000 },
      printed: 'x'.repeat(10_000),
    });
    expect(done).toEqual({ outcome: 'worked', summary: 'what is left of the budget does not pay for the question' });
    expect(spent.tokens).toBeLessThan(40_000);
    expect(requests.length).toBeLessThan(5);
  });

  test('stops after as many answers as the protocol lets it give', async () => {
    server.answers(touch('a'));
    const { done, requests } = await work(agent(), {
      allowance: { money_micros: 1_000_000_000, tokens: 100_000_000 },
      mostSteps: 7,
    });
    expect(done).toEqual({ outcome: 'worked', summary: 'it was stopped after 7 answers' });
    expect(requests).toHaveLength(7);
  });

  test('whose provider fails on the way has paid for what it had', async () => {
    server.answers(touch('a'), { status: 429, headers: { 'retry-after': '9' }, body: {} });
    const { error, spent } = await work();
    expect(error).toMatchObject({ name: 'ModelFault', faultClass: 'rate_limit', retryAfterMs: 9_000 });
    expect(spent.tokens).toBe(120);
  });
});
