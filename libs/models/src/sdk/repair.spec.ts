import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { configuredModels } from '../configured-models.ts';
import { modelAccount } from '../model-account.ts';
import { modelsSchema } from '../model-settings.ts';
import { repairModelContract } from '../models.contract.ts';
import type { RepairModel } from '../models.ts';
import { failedCommand } from '../playbook/failing-repository.fixture.ts';
import {
  type Answer,
  anthropicAnswer,
  chatAnswer,
  type ProviderServer,
  providerServer,
  responsesAnswer,
} from './provider-server.fixture.ts';

let server: ProviderServer;
beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.close());

/** 3 and 15 for a million tokens. */
const PRICE = { input: 3_000_000, output: 15_000_000 };

const model = (address: string, more: object = {}): RepairModel => {
  const models = modelsSchema.parse({ smith: { model: address, key: 'KEY', price: PRICE, ...more } });
  const smith = configuredModels({ models, keys: { KEY: 'sesame' }, rules: [] }).repair('smith');
  if (smith === null) throw new Error('there is no smith');
  return smith;
};

const qwen = (more: object = {}) => model(`openai-compatible:qwen3@${server.url}/v1`, more);

const FAILED = failedCommand('git add -A .cache', { exitCode: 1, stdout: '', stderr: 'The paths are ignored' });
const ENOUGH = { money_micros: 1_000_000, tokens: 500_000 };
const CORRECTED = { corrected: 'git add -A', reasoning: 'Ignored paths are left out.' };

const text = (said: unknown): string => (typeof said === 'string' ? said : JSON.stringify(said));
const says = (said: unknown, more = {}): Answer => chatAnswer({ content: text(said) }, more);

/** One question; what was said to it, and what that cost. */
const ask = async (asked: RepairModel, allowance = ENOUGH, signal = new AbortController().signal) => {
  const account = modelAccount(allowance);
  const before = server.asked.length;
  const outcome = await asked
    .propose(FAILED, account, signal)
    .then((proposal) => ({ proposal, error: null }))
    .catch((error: unknown) => ({ proposal: null, error }));
  return { ...outcome, spent: account.spent(), requests: server.asked.slice(before) };
};

repairModelContract('a language model', async () => {
  const first = FAILED.command;
  const knows = { propose: qwen().propose };
  return {
    repairable: FAILED,
    model: {
      name: 'smith',
      propose: (failed, account, signal) => {
        const said = failed.command === first ? CORRECTED : { corrected: null, reasoning: 'It is not known to me.' };
        server.answers(says(said));
        return knows.propose(failed, account, signal);
      },
    },
  };
});

describe('each protocol', () => {
  const PROPOSED = { kind: 'proposed', corrected: 'git add -A', rule: 'smith', reasoning: CORRECTED.reasoning };

  test('of a server of your own: asked for the shape, told what failed, paid by its count', async () => {
    server.answers(says(CORRECTED));
    const { proposal, spent, requests } = await ask(qwen());
    expect(proposal).toEqual(PROPOSED);
    expect(spent).toEqual({ money_micros: 600, tokens: 120 });
    expect(requests).toMatchObject([
      {
        path: '/v1/chat/completions',
        headers: { authorization: 'Bearer sesame' },
        body: { model: 'qwen3', max_tokens: 4096, response_format: { type: 'json_schema' } },
      },
    ]);
    expect(JSON.stringify(requests[0]?.body)).toMatch(/<stderr-[0-9a-f]{16}>\\nThe paths are ignored/);
  });

  test('of Anthropic', async () => {
    server.answers(anthropicAnswer([{ type: 'text', text: text(CORRECTED) }]));
    const { proposal, spent, requests } = await ask(model(`anthropic:claude-sonnet-4-5@${server.url}/v1`));
    expect(proposal).toEqual(PROPOSED);
    expect(spent).toEqual({ money_micros: 600, tokens: 120 });
    expect(requests).toMatchObject([{ path: '/v1/messages', headers: { 'x-api-key': 'sesame' } }]);
  });

  test('of OpenAI', async () => {
    server.answers(responsesAnswer(text(CORRECTED)));
    const { proposal, spent, requests } = await ask(model(`openai:gpt-5@${server.url}/v1`));
    expect(proposal).toEqual(PROPOSED);
    expect(spent).toEqual({ money_micros: 600, tokens: 120 });
    expect(requests).toMatchObject([{ path: '/v1/responses', headers: { authorization: 'Bearer sesame' } }]);
  });
});

describe('a provider that fails', () => {
  const failing = (status: number, headers: Record<string, string> = {}): Answer => ({
    ...{ status, headers },
    body: { error: { message: 'no', type: 'error' }, type: 'error' },
  });
  const DATE = 'Wed, 21 Oct 2026 07:28:00 GMT';

  test.each([
    [
      '429, with a wait in seconds',
      failing(429, { 'retry-after': '20' }),
      { faultClass: 'rate_limit', retryAfterMs: 20_000 },
    ],
    [
      '429, with a wait in ms',
      failing(429, { 'retry-after-ms': '1500' }),
      { faultClass: 'rate_limit', retryAfterMs: 1_500 },
    ],
    [
      '429, until a time',
      failing(429, { date: DATE, 'retry-after': DATE.replace('28:00', '29:30') }),
      { faultClass: 'rate_limit', retryAfterMs: 90_000 },
    ],
    ['529, without a wait', failing(529), { faultClass: 'rate_limit', retryAfterMs: 0 }],
    ['503', failing(503), { faultClass: 'rate_limit' }],
    ['401', failing(401), { faultClass: 'provider_auth' }],
    ['404: no such model', failing(404), { faultClass: 'provider_auth' }],
    ['500', failing(500), { faultClass: 'network' }],
    ['a stream that is cut', { cutAfter: '{"id":"chatcmpl-1","choices":[{"mess' }, { faultClass: 'network' }],
    ['what is no JSON', { status: 200, body: '<html>Welcome</html>' }, { faultClass: 'network' }],
    ['another shape of JSON', { status: 200, body: { hello: 'world' } }, { faultClass: 'network' }],
  ] satisfies [string, Answer, object][])('is told by its answer, and asked once: %s', async (_, answer, fault) => {
    server.answers(answer);
    const { error, spent, requests } = await ask(qwen());
    expect(error).toMatchObject({ name: 'ModelFault', provider: 'smith', ...fault });
    expect(requests).toHaveLength(1);
    expect(spent).toEqual({ money_micros: 0, tokens: 0 });
  });

  test('is the same for Anthropic', async () => {
    server.answers(failing(529, { 'retry-after': '7' }));
    const { error } = await ask(model(`anthropic:claude-sonnet-4-5@${server.url}/v1`));
    expect(error).toMatchObject({ faultClass: 'rate_limit', retryAfterMs: 7_000 });
  });

  test('or is not there', async () => {
    const gone = await providerServer();
    await gone.close();
    const { error } = await ask(model(`openai-compatible:qwen3@${gone.url}/v1`));
    expect(error).toMatchObject({ name: 'ModelFault', faultClass: 'network' });
  });

  test('or says nothing in time', async () => {
    server.answers('silence');
    const { error } = await ask(qwen({ timeout_ms: 100 }));
    expect(error).toMatchObject({ faultClass: 'network', message: 'smith: no answer within 100 ms' });
  });
});

describe('an answer that is no proposal', () => {
  const declined = (reason: unknown) => ({ kind: 'declined', reason });

  test('in another shape is asked for once more, and both are paid', async () => {
    server.answers(says('Sure! Try git add -A.'), says(CORRECTED));
    const { proposal, spent } = await ask(qwen());
    expect(proposal).toMatchObject({ corrected: 'git add -A' });
    expect(spent.tokens).toBe(240);
    server.answers(says({ corrected: 7 }), says('{"corrected": "git a', { finish: 'length' }));
    expect((await ask(qwen())).proposal).toEqual(declined('it answered twice in a shape that can not be read'));
  });

  test('is a refusal', async () => {
    server.answers(chatAnswer({ content: '' }, { finish: 'content_filter' }));
    expect((await ask(qwen())).proposal).toEqual(declined('it refused to answer'));
    server.answers(anthropicAnswer([], 'refusal'));
    const claude = model(`anthropic:claude-sonnet-4-5@${server.url}/v1`);
    expect((await ask(claude)).proposal).toEqual(declined('it refused to answer'));
  });

  test('is a question that is too long for it', async () => {
    const body = { error: { message: 'maximum context length is 8192 tokens', code: 'context_length_exceeded' } };
    server.answers({ status: 400, body });
    expect((await ask(qwen())).proposal).toEqual(declined('smith: HTTP 400'));
  });

  test('proposes what was run before', async () => {
    server.answers(says({ ...CORRECTED, corrected: FAILED.command }));
    expect((await ask(qwen())).proposal).toEqual(declined('it proposed what was run before'));
  });
});

describe('the account', () => {
  test('that can not pay for the question keeps it from being asked', async () => {
    for (const allowance of [
      { money_micros: 10, tokens: 500_000 },
      { money_micros: 1_000_000, tokens: 1_000 },
    ]) {
      const { proposal, requests } = await ask(qwen(), allowance);
      expect(proposal).toMatchObject({ kind: 'declined', reason: expect.stringContaining('budget') });
      expect(requests).toEqual([]);
    }
  });

  test('bounds the answer', async () => {
    server.answers(says(CORRECTED));
    const { requests } = await ask(qwen(), { money_micros: 22_000, tokens: 500_000 });
    const asked = Number(requests[0]?.body.max_tokens);
    expect(asked).toBeGreaterThanOrEqual(256);
    expect(asked).toBeLessThan(1_400);
  });

  test('is charged the most that it can have been where the server does not count', async () => {
    server.answers(says(CORRECTED, { usage: null }));
    const { spent } = await ask(qwen());
    expect(spent.tokens).toBeGreaterThan(4_096);
  });
});

test('a question is given up with whoever asked', async () => {
  const stop = new AbortController();
  server.answers('silence');
  const before = server.asked.length;
  const asked = ask(qwen(), ENOUGH, stop.signal);
  while (server.asked.length === before) await new Promise((resolve) => setImmediate(resolve));
  stop.abort('cancelled');
  expect((await asked).error).toBe('cancelled');
});
