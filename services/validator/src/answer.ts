import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { UnreadableEvent } from '@fixpoint/contracts/events/parse-event';
import { Refused } from '@fixpoint/decider/refused';
import type { Cause } from '@fixpoint/event-store/decision-plan';
import { AppendRejected, DecisionContended, type DecisionShell, runDecision } from '@fixpoint/event-store/run-decision';
import type { Verdict } from '@fixpoint/messaging/bus';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import { failedBy } from '@fixpoint/messaging/work-verdict';
import { type Gate, type GateCommand, type GateEvent, gate } from './domain/gate.ts';

export const DONE: Verdict = { verdict: 'done' };

export interface AnswerDeps extends Pick<DecisionShell<GateCommand, GateEvent, Gate>, 'store' | 'states'> {
  readonly clock: Clock;
  readonly publisher: Publisher;
  readonly ids: Ids;
}

export interface Question {
  /** Reader that answers. */
  readonly handler: string;
  readonly stream: string;
  /** The event that asked. */
  readonly cause: RecordedEvent;
  readonly nodeReady: RecordedEvent;
  /** What the stream most likely is when the question comes: saves a read; the version of the append proves it. */
  readonly expected: { readonly state: Gate; readonly version: number };
}

/** Stores an answer and publishes it; when there is one already, publishes that one again. */
export const giveAnswer = async (deps: AnswerDeps, question: Question, command: GateCommand): Promise<Verdict> => {
  const { stream, cause, nodeReady } = question;
  if (deps.states.get(stream) === undefined) deps.states.set(stream, question.expected);
  try {
    const { events } = await runDecision(
      { ...deps, decider: gate, handler: question.handler, schemaVersionOf },
      { stream, root: cause.root, command, cause: causeOf(cause) },
    );
    if (events.length === 0) return giveAgain(deps, question);
    deps.publisher.publish(publicationsOf(events, nodeReady));
    return DONE;
  } catch (error) {
    return verdictOf(error, cause);
  }
};

export const causeOf = ({ id, occurred_at: time, root, metadata }: RecordedEvent): Cause => ({
  id,
  time,
  actor: metadata.actor,
  correlation_id: root,
  ...(metadata.traceparent === undefined ? {} : { traceparent: metadata.traceparent }),
});

/**
 * Publishes the stored answer to this question, and only to this one: the gate's answer makes the executor say again how
 * the run ended, which is asked here again; publishing both would go round for ever.
 */
export const giveAgain = async (deps: AnswerDeps, { stream, nodeReady, expected }: Question): Promise<Verdict> => {
  const events = await deps.store.readStream(stream);
  const answers = events.filter(({ version }) => (expected.version === 0 ? version === 1 : version > 1));
  deps.publisher.publish(publicationsOf(answers, nodeReady, deps.ids.uuid()));
  return DONE;
};

const schemaVersionOf = (type: string): number => definitionOf(type)?.version ?? 1;

/** @param event the one that was offered. @throws what is the world's doing: the reader offers again later and counts nothing. */
export const verdictOf = (error: unknown, event: RecordedEvent): Verdict => {
  if (error instanceof DecisionContended) return { verdict: 'later', delayMs: 100, reason: error.message };
  if (error instanceof Refused || error instanceof AppendRejected || error instanceof UnreadableEvent)
    return failedBy(error, { event });
  throw error;
};
