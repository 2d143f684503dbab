import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { configuredCouncil } from '../configured-models.ts';
import { councilModelContract } from '../council-model.contract.ts';
import { CouncilFault, type CouncilModel, type CouncilQuestion, directionSchema } from '../council-model.ts';
import { modelsSchema } from '../model-settings.ts';
import { type Answer, chatAnswer, type ProviderServer, providerServer } from './provider-server.fixture.ts';

let server: ProviderServer;
beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.close());

const { signal } = new AbortController();

const councilModel = (): CouncilModel => {
  const price = { input: 3_000_000, output: 15_000_000 };
  const models = modelsSchema.parse({ wise: { model: `openai-compatible:qwen3@${server.url}/v1`, price } });
  const model = configuredCouncil('wise', { models, keys: {} });
  if (model === null) throw new Error('there is no such model');
  return model;
};

const NODE: NodeSpec = {
  ...{ id: 'main', kind: 'action', goal: 'g', recipe: { command: 'make all' }, policy: 'recover' },
  postcondition: { all: [{ command: 'make test', timeout_ms: 1_000 }] },
  ...{ max_repair_attempts: 2, max_agent_attempts: 0, model: 'default', agent_tools: [], env: { A: 'b' } },
  timeout_ms: 60_000,
};

const question = (more: Partial<CouncilQuestion['request']> = {}): CouncilQuestion => ({
  request: {
    ...{ root: 'r', task: 't', address: '0', request: 1, scope: { project: 'p', mode: 'build' } },
    protocol: { name: 'default', version: 1, hash: 'h' },
    ...{ intent: 'INTENT', goal: 'GOAL', node: NODE, nodes: [], inputs: {} },
    ...{ declared_parts: null, split_depth: 0, halt_type: 'blocker', raw_halt_type: 'execute', stalled_run: 3 },
    ...{ failures: [], hint: 'HINT', base_ref: null, workspace_ref: null, source: null },
    budget: { children_left: 8, depth_left: 2, time_ms: 60_000, money_micros: 1_000_000, tokens: 500_000 },
    ...more,
  },
  ...{ changed: ['a.txt'], patch: 'PATCH', findings: [], detail: 'DETAIL' },
  documents: [{ path: 'docs/adr.md', text: 'DOCUMENT' }],
  objections: ['OBJECTION'],
});

const slice = (name: string, check: string | null = `test -f ${name}`) => ({
  ...{ name, goal: `There is ${name}`, paths: [`${name}/**`], salvage: false },
  steps: [{ goal: `Make ${name}`, command: `make ${name}`, check }],
});
const says = (body: object) => chatAnswer({ content: JSON.stringify(body) });
const proposes = (confidence: string, ...slices: object[]): Answer =>
  says({ slices, reasoning: `SECRET-${confidence}`, confidence });
const DECLINES = proposes('high');
const APPROVES = says({ verdict: 'approve', confidence: 'high', reasons: [] });

councilModelContract('a language model', async () => {
  const subject = { model: councilModel(), divisible: question(), whole: question({ goal: 'whole' }) };
  const { direction } = subject.model;
  // What it answers is up to the question, as with a model.
  const model: CouncilModel = {
    ...subject.model,
    direction: (asked, stop) => {
      if (asked.request.goal === 'whole') server.answers(DECLINES);
      else server.answers(proposes('high', slice('a'), slice('b')), DECLINES, DECLINES, APPROVES);
      return direction(asked, stop);
    },
  };
  return { ...subject, model };
});

const direct = async (answers: readonly Answer[], more: Partial<CouncilQuestion['request']> = {}) => {
  server.answers(...answers);
  const before = server.asked.length;
  const { said, spent } = await councilModel().direction(question(more), signal);
  return { direction: directionSchema.parse(said), spent, requests: server.asked.slice(before) };
};

describe('the direction of a council of language models', () => {
  test('is asked through three lenses, each told everything as data, and the surest is taken', async () => {
    const { direction, spent, requests } = await direct([
      proposes('low', slice('a'), slice('b')),
      proposes('high', slice('c'), slice('d')),
      DECLINES,
    ]);
    expect(direction).toMatchObject({ lens: 'vertical slices', confidence: 'high' });
    expect(direction.slices.map(({ name }) => name)).toEqual(['c', 'd']);
    const texts = requests.map(({ body }) => JSON.stringify(body));
    expect(texts).toHaveLength(3);
    for (const text of texts) {
      for (const word of ['INTENT', 'GOAL', 'HINT', 'PATCH', 'DETAIL', 'DOCUMENT', 'OBJECTION', 'make test']) {
        expect(text).toMatch(new RegExp(`<[a-z]+-[0-9a-f]{16}>[^<]*${word}`));
      }
    }
    expect(new Set(texts.map((text) => /Your lens: [a-z ]+/.exec(text)?.[0])).size).toBe(3);
    expect(spent).toEqual({ money_micros: 1_800, tokens: 360 });
  });

  test('makes steps that are repaired within the bounds of the unit, and only where they are checked', async () => {
    const { direction } = await direct([proposes('high', slice('a'), slice('b', null)), DECLINES]);
    const [checked, bare] = direction.slices.map(({ nodes }) => nodes[0]);
    expect(checked).toMatchObject({
      ...{ recipe: { command: 'make a' }, policy: 'recover', max_repair_attempts: 2, env: { A: 'b' } },
      postcondition: { all: [{ command: 'test -f a', timeout_ms: 30_000 }] },
    });
    expect(bare).toMatchObject({ postcondition: null, policy: 'required', max_repair_attempts: 0 });
  });

  test('leaves what an author declared as it was written', async () => {
    const part = { name: 'a', goal: 'as declared', paths: ['x/**'], nodes: [NODE], parts: [] };
    const { direction } = await direct([proposes('high', slice('a'), slice('b')), DECLINES], {
      declared_parts: [part],
    });
    expect(direction.slices[0]).toMatchObject({
      goal: 'as declared',
      paths: ['x/**'],
      nodes: [{ recipe: NODE.recipe }],
    });
  });

  test('stays inside its budget, and says so', async () => {
    const budget = { children_left: 8, depth_left: 2, time_ms: 60_000, money_micros: 1_000_000, tokens: 1_000 };
    const { direction, requests, spent } = await direct([DECLINES], { budget });
    expect(direction).toMatchObject({ slices: [], confidence: 'low', reasoning: expect.stringContaining('budget') });
    expect([requests.length, spent.tokens]).toEqual([0, 0]);
  });

  test.each([
    ['a limit', { status: 429, headers: { 'retry-after': '9' }, body: {} }, ['rate_limit', 9_000]],
    ['a refused key', { status: 401, body: {} }, ['provider_auth', 0]],
    ['garble, twice', chatAnswer({ content: 'I would cut it in half.' }), ['internal', 0]],
  ] as const)('%s is the machinery’s, and what was answered before it is paid for', async (_, answer, expected) => {
    server.answers(DECLINES, answer);
    const error = await councilModel()
      .direction(question(), signal)
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof CouncilFault)) throw new Error(String(error));
    expect([error.faultClass, error.retryAfterMs]).toEqual(expected);
    expect(error.provider).toBe(error.faultClass === 'internal' ? null : 'model.wise');
    expect(error.spent.tokens).toBeGreaterThanOrEqual(120);
  });
});

describe('the review of a council of language models', () => {
  const proposal = [slice('a'), slice('b')].map(({ steps: _, ...each }) => ({
    ...each,
    ...{ nodes: [NODE], inputs: {}, parts: [] },
  }));

  test('sees the slices and nothing of the reasoning behind them, under other instructions', async () => {
    server.answers(APPROVES);
    const before = server.asked.length;
    const { said } = await councilModel().review({ request: question().request, slices: proposal }, signal);
    expect(said).toMatchObject({ verdict: 'approve' });
    const [text = ''] = server.asked.slice(before).map(({ body }) => JSON.stringify(body));
    expect(text).toContain('You are the adversary');
    expect(text).toContain('There is a');
    for (const word of ['SECRET', 'Your lens', 'PATCH', 'DETAIL']) expect(text).not.toContain(word);
  });

  test('that can not be asked for want of money lets nothing pass', async () => {
    const budget = { ...question().request.budget, tokens: 100 };
    const { said } = await councilModel().review(
      { request: { ...question().request, budget }, slices: proposal },
      signal,
    );
    expect(said).toMatchObject({ verdict: 'reject', confidence: 'high' });
  });
});
