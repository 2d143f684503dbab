import type { Clock } from '@fixpoint/contracts/clock';
import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { CouncilSpent } from '@fixpoint/contracts/events/decomposer-events';
import { WorkspaceFault } from '@fixpoint/execution/workspace-fault';
import {
  type CouncilAnswer,
  CouncilFault,
  type CouncilModel,
  type Direction,
  directionSchema,
  reviewSchema,
} from '@fixpoint/models/council-model';
import type { z } from 'zod';
import type { OpenRequest } from './council-answer.ts';
import { objectionsTo } from './domain/checks/objections.ts';
import type { CouncilCommand } from './domain/council.ts';
import type { Evidence } from './evidence.ts';
import { unsoundNodes } from './unsound-nodes.ts';

export interface Asking {
  readonly model: CouncilModel;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly evidence: Evidence;
  readonly mode: Pick<ModeSpec, 'command_rules'>;
  readonly signal: AbortSignal;
}

/** One step of the answer: what is asked next, asked, and what it comes to. Never throws for what the council does. */
export const nextCommand = async (open: OpenRequest, asking: Asking): Promise<CouncilCommand> => {
  const { about, request } = open;
  const { next, spent } = open.state();
  const { money_micros, tokens } = request.budget;
  if (spent.money_micros > money_micros || spent.tokens > tokens) return { about, type: 'stop_short' };
  try {
    return next === 'review' ? await reviewed(open, asking) : await proposed(open, asking);
  } catch (error) {
    const used = error instanceof CouncilFault ? { spent: { ...error.spent, duration_ms: 0 } } : {};
    return { about, type: 'fault', fault: faultOf(error), ...used };
  }
};

/** What is left for the next question of a request: the council stays inside it by itself. */
const affordable = ({ request, state }: OpenRequest): OpenRequest['request'] => {
  const { spent } = state();
  const money_micros = Math.max(0, request.budget.money_micros - spent.money_micros);
  const tokens = Math.max(0, request.budget.tokens - spent.tokens);
  return { ...request, budget: { ...request.budget, money_micros, tokens } };
};

const proposed = async (open: OpenRequest, asking: Asking): Promise<CouncilCommand> => {
  const { about, request, state } = open;
  const { model, evidence, signal } = asking;
  const question = { request: affordable(open), ...evidence, objections: state().objections };
  const { said, spent } = await timed(asking, () => model.direction(question, signal));
  const direction = readable(directionSchema, said);
  return {
    about,
    type: 'propose',
    proposal: { ...direction, objections: objectionsOf(direction, asking, request) },
    spent,
  };
};

/** A decline has nothing to object to. */
const objectionsOf = ({ slices }: Direction, { evidence, mode }: Asking, request: OpenRequest['request']): string[] => {
  if (slices.length === 0) return [];
  const found = [
    ...objectionsTo(slices, { ...request, changed: evidence.changed }),
    ...unsoundNodes(slices, mode.command_rules),
  ];
  return found.slice(0, 20).map((objection) => objection.slice(0, 500));
};

const reviewed = async (open: OpenRequest, asking: Asking): Promise<CouncilCommand> => {
  const { about, state } = open;
  const { model, signal } = asking;
  const slices = state().proposal?.slices ?? [];
  const { said, spent } = await timed(asking, () => model.review({ request: affordable(open), slices }, signal));
  return { about, type: 'review', review: readable(reviewSchema, said), spent };
};

const timed = async (
  { clock }: Asking,
  ask: () => Promise<CouncilAnswer>,
): Promise<{ readonly said: unknown; readonly spent: CouncilSpent }> => {
  const since = clock.monotonicMs();
  const { said, spent } = await ask();
  return { said, spent: { ...spent, duration_ms: Math.max(0, Math.round(clock.monotonicMs() - since)) } };
};

/** What can not be read is no answer about the unit: the machinery is asked again later, as after any fault. */
const readable = <Schema extends z.ZodType>(schema: Schema, said: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(said);
  if (parsed.success) return parsed.data;
  throw new CouncilFault('internal', `the answer can not be read: ${parsed.error.issues[0]?.message ?? 'unknown'}`);
};

type Fault = Extract<CouncilCommand, { type: 'fault' }>['fault'];

export const faultOf = (error: unknown): Fault => ({
  class: error instanceof CouncilFault || error instanceof WorkspaceFault ? error.faultClass : 'internal',
  retry_after_ms: error instanceof CouncilFault ? error.retryAfterMs : 0,
  detail: error instanceof Error ? error.message.slice(0, 1000) : 'unknown',
  provider: error instanceof CouncilFault || error instanceof WorkspaceFault ? error.provider : null,
});
