import { parseEvent, UnreadableEvent } from '@fixpoint/contracts/events/parse-event';
import { READERS } from '@fixpoint/contracts/services';
import { actionStream } from '@fixpoint/contracts/streams';
import { ProtocolUnknown } from '@fixpoint/documents/protocol-catalog';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { DecisionContended, type DecisionOutcome } from '@fixpoint/event-store/run-decision';
import type { Offer, Reader, Verdict } from '@fixpoint/messaging/bus';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import { failedBy } from '@fixpoint/messaging/work-verdict';
import { z } from 'zod';
import type { RunResult } from './domain/lineage/commands.ts';
import { type LineageDecision, type Lineages, LineageUnknown } from './lineages.ts';
import { type LineageAnswer, type Reaction, react } from './reactions/react.ts';
import type { RunResults } from './run-results.ts';

export const ORCHESTRATOR_DECIDE = 'orchestrator__decide';
const BATCH = 500;
const DONE: Verdict = { verdict: 'done' };

export interface DecideReaderDeps {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly lineages: Lineages;
  readonly results: RunResults;
  readonly publisher: Publisher;
  /** Told what was refused or makes no sense: nothing will come of it, and nobody waits for it. */
  readonly report: (what: string, offer: Offer) => void;
  readonly deadLetter: Reader['deadLetter'];
}

/** Answers what the other services say, a batch at a time: react, decide by lineage, append, publish. */
export const decideReader = (deps: DecideReaderDeps): Reader => ({
  name: ORCHESTRATOR_DECIDE,
  types: READERS[ORCHESTRATOR_DECIDE],
  mode: { kind: 'batch', max: BATCH },
  maxFailures: 5,
  handle: (offers) => handle(deps, offers),
  deadLetter: deps.deadLetter,
});

interface Prepared {
  readonly offer: Offer;
  readonly next: LineageDecision | Verdict;
}

const handle = async (deps: DecideReaderDeps, offers: readonly Offer[]): Promise<readonly Verdict[]> => {
  const reactions = offers.map(reactionTo);
  for (const reaction of reactions) {
    if ('reaction' in reaction && reaction.reaction === 'remember') deps.results.remember(reaction.result);
  }
  const results = await deps.results.of(reactions.flatMap(streamOf));
  const prepared = await Promise.all(
    offers.map(async (offer, index) => ({
      offer,
      next: await prepare(deps, offer, answerOf(reactions[index], { results, offer })),
    })),
  );
  return decideAll(deps, prepared);
};

const reactionTo = (offer: Offer): Reaction | Verdict => {
  try {
    return react(parseEvent(offer.event));
  } catch (error) {
    if (error instanceof UnreadableEvent) return failedBy(error, offer);
    throw error;
  }
};

const streamOf = (reaction: Reaction | Verdict): string[] =>
  'reaction' in reaction && reaction.reaction === 'command_on_result'
    ? [actionStream(reaction.task, reaction.run)]
    : [];

type ReadyAnswer = { readonly root: string; readonly command: LineageAnswer };

const answerOf = (
  reaction: Reaction | Verdict | undefined,
  { results, offer }: { readonly results: ReadonlyMap<string, RunResult>; readonly offer: Offer },
): ReadyAnswer | Verdict => {
  if (reaction === undefined) return DONE;
  if ('verdict' in reaction) return reaction;
  if (reaction.reaction === 'command') return reaction;
  if (reaction.reaction === 'remember') return accountedAtOnce(reaction.result, offer);
  if (reaction.reaction !== 'command_on_result') return DONE;
  const result = results.get(actionStream(reaction.task, reaction.run));
  if (result) return { root: reaction.root, command: reaction.commandOn(result) };
  return { verdict: 'failed', error: `run ${reaction.run} of ${reaction.task} was judged and has no result` };
};

const allowedSchema = z.object({ allowance: z.object({ money_micros: z.number(), tokens: z.number() }) });

/**
 * A good result waits for its judgement. What it spent does not: of a run that was given up, or whose task ended, nobody asks
 * for a judgement, and its reservation would never end.
 */
const accountedAtOnce = (result: RunResult, { nodeReady }: Offer): ReadyAnswer | Verdict => {
  const told = allowedSchema.safeParse(nodeReady?.data);
  const hadNothing = told.success && told.data.allowance.money_micros === 0 && told.data.allowance.tokens === 0;
  return hadNothing ? DONE : { root: result.root, command: { type: 'end_run', result } };
};

/** People may have replayed or discarded the letter since: a late word about it must not call a human again. */
const isStale = async ({ store }: DecideReaderDeps, { event }: Offer, { command }: ReadyAnswer): Promise<boolean> =>
  command.type === 'dead_letter' && (await store.readStream(event.stream, event.version + 1)).length > 0;

const prepare = async (
  deps: DecideReaderDeps,
  offer: Offer,
  answer: ReadyAnswer | Verdict,
): Promise<LineageDecision | Verdict> => {
  if ('verdict' in answer) return answer;
  const { lineages, report } = deps;
  if (await isStale(deps, offer, answer)) return DONE;
  const { event, nodeReady } = offer;
  const { actor, traceparent } = event.metadata;
  const cause = { id: event.id, time: event.occurred_at, actor, ...(traceparent === undefined ? {} : { traceparent }) };
  try {
    return await lineages.commandFor({ ...answer, cause, nodeReady });
  } catch (error) {
    if (error instanceof LineageUnknown) {
      report('lineage_unknown', offer);
      return DONE;
    }
    if (error instanceof ProtocolUnknown || error instanceof UnreadableEvent) return failedBy(error, offer);
    throw error;
  }
};

const decideAll = async (deps: DecideReaderDeps, prepared: readonly Prepared[]): Promise<readonly Verdict[]> => {
  const decisions = prepared.flatMap(({ next }) => ('command' in next ? [next] : []));
  const outcomes = await deps.lineages.decide(ORCHESTRATOR_DECIDE, decisions);
  const outcomeOf = new Map(decisions.map((decision, index) => [decision, outcomes[index]]));
  return prepared.map(({ offer, next }) => ('command' in next ? settle(deps, offer, outcomeOf.get(next)) : next));
};

const settle = (deps: DecideReaderDeps, offer: Offer, outcome: DecisionOutcome | undefined): Verdict => {
  if (outcome === undefined) return { verdict: 'later', delayMs: 0, reason: 'not decided' };
  switch (outcome.outcome) {
    case 'decided':
      deps.publisher.publish(publicationsOf(outcome.events, null));
      return DONE;
    case 'refused':
      deps.report(outcome.refused.code, offer);
      return DONE;
    case 'failed':
      if (outcome.error instanceof DecisionContended)
        return { verdict: 'later', delayMs: 50, reason: outcome.error.message };
      return failedBy(outcome.error, offer);
    default:
      return outcome satisfies never;
  }
};
