import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import type { AgentBrief, AgentModel } from '@fixpoint/models/agent/agent-model';
import {
  type CouncilAnswer,
  CouncilFault,
  type CouncilModel,
  type CouncilQuestion,
  type Direction,
  type Review,
} from '@fixpoint/models/council-model';
import { ModelFault } from '@fixpoint/models/model-fault';
import type { RepairModel } from '@fixpoint/models/models';
import type { SimulatedProcess } from '../world/simulated-process.ts';
import type { Choices } from './choices.ts';

export interface ModelDeps {
  readonly choices: Choices;
  readonly numbered: (name: string) => string;
}

const SLOW_MS = 30_000;
const GARBLE = 'ech0 ???';
/** What an answer costs. */
const SPENT = { money_micros: 40_000, tokens: 900 };

/** Mostly it is asked too often; a key that it refuses is a human's at once. */
const unreachable = ({ choices }: ModelDeps, provider: string, key: string): ModelFault =>
  choices.happens('refused_key', key, 0.4)
    ? new ModelFault({ provider, faultClass: 'provider_auth', detail: 'it refuses the key' })
    : new ModelFault({ provider, faultClass: 'rate_limit', detail: 'too many requests', retryAfterMs: 20_000 });

/** A model that corrects commands, and refuses, talks nonsense, is out of reach or takes its time as the seed says. */
export const shakyRepair = (deps: ModelDeps, inner: RepairModel, process: SimulatedProcess): RepairModel => ({
  name: inner.name,
  propose: async (failed, account, signal) => {
    const key = deps.numbered(failed.command);
    switch (deps.choices.pick('repair_model', key, { share: 0.3, options: 5 })) {
      case 1:
        return { kind: 'declined', reason: 'it refuses' };
      case 2:
        return { kind: 'proposed', corrected: GARBLE, rule: 'garble', reasoning: '' };
      case 3:
        throw new Error('the provider does not answer');
      case 4:
        throw unreachable(deps, inner.name, key);
      case 5:
        await process.commandClock.sleep(SLOW_MS, signal);
        return inner.propose(failed, account, signal);
      default:
        return inner.propose(failed, account, signal);
    }
  },
});

/** What makes a check of these worlds hold; null for one that nothing does. */
const cureFor = (postcondition: string | null): string | null => {
  const told = postcondition ?? '';
  const file = /test -f ([\w.-]+)/.exec(told)?.[1];
  const [, text, path] = /grep -q (\w+) (\w+)/.exec(told) ?? [];
  if (file !== undefined) return `echo yes > ${file}`;
  return text === undefined ? null : `echo ${text} > ${path}`;
};

/** An agent that looks at the check and does what makes it hold, when the seed lets it. */
export const shakyAgent = (deps: ModelDeps, name: string, process: SimulatedProcess): AgentModel => ({
  name,
  run: async (brief: AgentBrief, { tools, account }, signal) => {
    const key = deps.numbered(brief.recipe);
    const answer = deps.choices.pick('agent_model', key, { share: 0.5, options: 4 });
    if (answer === 1) return { outcome: 'declined', summary: 'it refuses' };
    if (answer === 2) throw unreachable(deps, name, key);
    if (answer === 3) await process.commandClock.sleep(SLOW_MS, signal);
    const command = answer === 4 ? GARBLE : (cureFor(brief.postcondition) ?? brief.recipe);
    account.charge({ money_micros: Math.min(SPENT.money_micros, account.left().money_micros), tokens: 0 });
    const { outcome } = await tools.call({ tool: 'run_command', input: { command } });
    return { outcome: 'worked', summary: `${command}: ${outcome}` };
  },
});

const sliceOf = (name: string, { request: { node } }: CouncilQuestion): Slice => ({
  ...{ name, goal: `${name} of it is there`, paths: [name], inputs: {}, salvage: false, parts: [] },
  nodes: node === null ? [] : [{ ...node, id: 'make', goal: `make ${name}`, ...made(name, node) }],
});

const made = (name: string, { postcondition }: NonNullable<CouncilQuestion['request']['node']>) => ({
  recipe: { command: `echo yes > ${name}` },
  postcondition: postcondition === null ? null : { all: [{ command: `test -f ${name}`, timeout_ms: 30_000 }] },
});

const invented = (question: CouncilQuestion): Direction => ({
  slices: ['left', 'right'].map((name) => sliceOf(name, question)),
  ...{ lens: 'invented', reasoning: 'two halves', confidence: 'high' },
});

const REFUSES: Direction = { slices: [], lens: null, reasoning: 'it refuses', confidence: 'low' };
const REJECTS: Review = { verdict: 'reject', confidence: 'high', reasons: ['it would not help'] };

type Ask = () => Promise<CouncilAnswer>;

/** A council as bad as any: it refuses, invents a split, talks nonsense, is out of reach or takes its time. */
export const shakyCouncil = (
  { choices, numbered }: ModelDeps,
  inner: CouncilModel,
  process: SimulatedProcess,
): CouncilModel => {
  const asked = async (key: string, answers: { readonly refuses: unknown; readonly invents: unknown }, ask: Ask) => {
    switch (choices.pick('council', key, { share: 0.35, options: 5 })) {
      case 1:
        return { said: answers.refuses, spent: SPENT };
      case 2:
        return { said: answers.invents, spent: SPENT };
      case 3:
        return { said: 'It depends.', spent: SPENT };
      case 4:
        throw new CouncilFault('network', 'nobody answers', { retryAfterMs: 10_000 });
      case 5:
        await process.commandClock.sleep(SLOW_MS);
        return ask();
      default:
        return ask();
    }
  };
  return {
    name: inner.name,
    direction: (question, signal) =>
      asked(
        numbered(`direction ${question.request.task}`),
        { refuses: REFUSES, invents: question.request.node === null ? REFUSES : invented(question) },
        () => inner.direction(question, signal),
      ),
    review: (question, signal) =>
      asked(numbered(`review ${question.request.task}`), { refuses: REJECTS, invents: REJECTS }, () =>
        inner.review(question, signal),
      ),
  };
};
