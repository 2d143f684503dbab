import type { NodeSpec, PartSpec } from '@fixpoint/contracts/documents/task';
import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import { modelProvider } from '@fixpoint/contracts/provider-name';
import { z } from 'zod';
import {
  type CouncilAnswer,
  CouncilFault,
  type CouncilModel,
  type CouncilQuestion,
  type CouncilRequest,
  type Direction,
  type ReviewQuestion,
  reviewSchema,
} from '../council-model.ts';
import { type ModelAccount, modelAccount } from '../model-account.ts';
import { ModelFault } from '../model-fault.ts';
import { askForObject, type ObjectQuestion } from './ask-for-object.ts';
import { directionPrompt, LENSES, type Lens, REVIEWER, reviewPrompt } from './council-prompts.ts';
import type { SdkModel } from './sdk-model.ts';

const stepSchema = z.object({
  goal: z.string().min(1).max(2_000),
  /** What is run with /bin/sh. */
  command: z.string().min(1).max(16_000),
  /** A command that ends with 0 when, and only when, the goal of the step is reached; null where none can be said. */
  check: z.string().min(1).max(8_000).nullable(),
});

const proposalSchema = z.object({
  slices: z
    .array(
      z.object({
        name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,60}$/),
        goal: z.string().min(1).max(4_000),
        paths: z.array(z.string().min(1).max(300)).max(50),
        salvage: z.boolean(),
        steps: z.array(stepSchema).min(1).max(5),
      }),
    )
    .max(6),
  reasoning: z.string().max(4_000),
  confidence: z.enum(['high', 'medium', 'low']),
});
type Proposal = z.infer<typeof proposalSchema>;

/** A council of language models: three lenses propose one after the other, and a review that never saw why is asked apart. */
export const sdkCouncilModel = (model: SdkModel): CouncilModel => ({
  name: model.name,
  direction: (question, signal) =>
    accounted(question.request, async (account) => directionOf(model, question, { account, signal })),
  review: (question, signal) =>
    accounted(question.request, async (account) => reviewOf(model, question, { account, signal })),
});

/** What was used up is told with an answer and with a fault alike. */
const accounted = async (
  { budget }: CouncilRequest,
  ask: (account: ModelAccount) => Promise<unknown>,
): Promise<CouncilAnswer> => {
  const account = modelAccount(budget);
  try {
    return { said: await ask(account), spent: account.spent() };
  } catch (error) {
    if (error instanceof ModelFault) {
      const { faultClass, message, retryAfterMs } = error;
      const provider = modelProvider(error.provider);
      throw new CouncilFault(faultClass, message, { retryAfterMs, spent: account.spent(), provider });
    }
    if (error instanceof CouncilFault)
      throw new CouncilFault(error.faultClass, error.message, { spent: account.spent() });
    throw error;
  }
};

interface Within {
  readonly account: ModelAccount;
  readonly signal: AbortSignal;
}

/** @throws {CouncilFault} for what can not be read. @returns null with its reason for what it would not or could not say. */
const asked = async <Said>(
  model: SdkModel,
  question: ObjectQuestion<Said>,
  within: Within,
): Promise<{ readonly said: Said } | { readonly said: null; readonly why: string }> => {
  const answer = await askForObject(model, question, within);
  if ('why' in answer && answer.isGarbled) throw new CouncilFault('internal', `${model.name}: ${answer.why}`);
  return answer;
};

interface Look {
  readonly lens: Lens;
  readonly proposal: Proposal | null;
  readonly why: string;
}

/** One after the other: what one uses up, the next has not. */
const directionOf = async (model: SdkModel, question: CouncilQuestion, within: Within): Promise<Direction> => {
  const looks: Look[] = [];
  for (const lens of LENSES) {
    const prompt = directionPrompt(question);
    const answer = await asked(model, { instructions: lens.instructions, prompt, schema: proposalSchema }, within);
    looks.push({
      lens,
      proposal: answer.said,
      why: 'why' in answer ? answer.why : answer.said.reasoning,
    });
  }
  return chosen(looks, question.request);
};

const RANK = { high: 2, medium: 1, low: 0 } as const;

/** Of those that see a way to cut, the surest; between equals the order of the lenses. */
const chosen = (looks: readonly Look[], request: CouncilRequest): Direction => {
  const reasoning = looks
    .map(({ lens, why }) => `${lens.name}: ${why}`)
    .join('; ')
    .slice(0, 4_000);
  const cuts = looks.flatMap(({ lens, proposal }) =>
    proposal === null || proposal.slices.length < 2 ? [] : [{ lens, proposal }],
  );
  const [best] = cuts.toSorted((a, b) => RANK[b.proposal.confidence] - RANK[a.proposal.confidence]);
  if (best === undefined) return { slices: [], lens: null, reasoning, confidence: declineConfidence(looks) };
  const { lens, proposal } = best;
  const slices = proposal.slices.map((slice) => sliceOf(slice, request));
  return { slices, lens: lens.name, reasoning, confidence: proposal.confidence };
};

/** As sure as the least sure of those who said so; one that could not be asked leaves it in doubt. */
const declineConfidence = (looks: readonly Look[]): Direction['confidence'] => {
  const said = looks.map(({ proposal }) => proposal?.confidence ?? 'low');
  return said.toSorted((a, b) => RANK[a] - RANK[b])[0] ?? 'low';
};

const CHECK_TIMEOUT_MS = 30_000;
const STEP_TIMEOUT_MS = 3_600_000;

/** What an author declared under this name stands; everything else is what the model wrote, under the bounds of the unit. */
const sliceOf = (slice: Proposal['slices'][number], request: CouncilRequest): Slice => {
  const { name, goal, paths, salvage } = slice;
  const declared: PartSpec | undefined = request.declared_parts?.find((part) => part.name === name);
  const own = { name, inputs: request.inputs };
  if (declared !== undefined) {
    const { nodes, parts } = declared;
    return { ...own, goal: declared.goal || goal, paths: declared.paths, nodes, parts, salvage: false };
  }
  const nodes = slice.steps.map((step, at) => nodeOf(step, { id: `step-${at + 1}`, unit: request.node }));
  return { ...own, goal, paths, salvage, nodes, parts: [] };
};

const nodeOf = (
  { goal, command, check }: z.infer<typeof stepSchema>,
  { id, unit }: { readonly id: string; readonly unit: NodeSpec | null },
): NodeSpec => ({
  ...{ id, kind: 'action', goal, recipe: { command } },
  postcondition: check === null ? null : { all: [{ command: check, timeout_ms: CHECK_TIMEOUT_MS }] },
  ...(check === null || unit === null || unit.policy !== 'recover' ? REQUIRED : recoveryOf(unit)),
  model: unit?.model ?? 'default',
  env: unit?.env ?? {},
  timeout_ms: unit?.timeout_ms ?? STEP_TIMEOUT_MS,
});

const REQUIRED = {
  policy: 'required',
  max_repair_attempts: 0,
  max_agent_attempts: 0,
  agent_tools: [],
} satisfies Partial<NodeSpec>;

const recoveryOf = ({ max_repair_attempts, max_agent_attempts, agent_tools }: NodeSpec) => ({
  policy: 'recover' as const,
  ...{ max_repair_attempts, max_agent_attempts, agent_tools },
});

const reviewOf = async (model: SdkModel, question: ReviewQuestion, within: Within) => {
  const prompt = reviewPrompt(question);
  const answer = await asked(model, { instructions: REVIEWER, prompt, schema: reviewSchema }, within);
  if (!('why' in answer)) return answer.said;
  // Nothing is split that nobody has looked at.
  return { verdict: 'reject', confidence: 'high', reasons: [answer.why] };
};
