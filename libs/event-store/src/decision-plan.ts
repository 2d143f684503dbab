import type { Clock } from '@fixpoint/contracts/clock';
import type { EventMetadata, NewEvent } from '@fixpoint/contracts/envelope';
import { type Decider, fold } from '@fixpoint/decider/decider';
import { eventId } from './event-id.ts';
import type { Append } from './event-store.ts';
import type { CachedState } from './state-cache.ts';

/** What a decision answers to: an event, a timer, a sweep or a request, each with an id that repeats when it repeats. */
export interface Cause {
  readonly id: string;
  /** When the cause happened, ISO 8601. The same for a repeated cause, or its event ids would differ. */
  readonly time: string;
  /** Name of the API key, `local`, or `system`. */
  readonly actor: string;
  /** The root of the lineage, or the stream outside one. */
  readonly correlation_id: string;
  /** W3C traceparent, when tracing is on. */
  readonly traceparent?: string;
}

/** One command for one stream. */
export interface Decision<Command> {
  readonly stream: string;
  readonly root: string;
  readonly command: Command;
  readonly cause: Cause;
}

/** How decisions are made and signed. */
export interface Judgement<Command, Event, State> {
  readonly decider: Decider<Command, Event, State>;
  readonly clock: Pick<Clock, 'now'>;
  /** `<service>__<reader>`: the producer of the events, and part of their ids. */
  readonly handler: string;
  /** Schema version that this release writes for a type. */
  schemaVersionOf(type: string): number;
}

export interface DomainEvent {
  readonly type: string;
  readonly data: unknown;
}

/** What one decision came to before anything was stored. */
export interface Planned<Command> {
  readonly decision: Decision<Command>;
  readonly result:
    | { readonly kind: 'append'; readonly append: Append }
    | { readonly kind: 'nothing' }
    | { readonly kind: 'thrown'; readonly error: unknown };
}

/** The decisions of one stream, each made on the state that the ones before would leave. */
export interface StreamPlan<Command, State> {
  readonly steps: readonly Planned<Command>[];
  /** State and version after each step, as the cache may keep them once that step is stored. */
  readonly after: readonly CachedState<State>[];
}

const metadataOf = (cause: Cause, producer: string): EventMetadata => ({
  causation_id: cause.id,
  correlation_id: cause.correlation_id,
  producer,
  actor: cause.actor,
  ...(cause.traceparent === undefined ? {} : { traceparent: cause.traceparent }),
});

const signed = <Event extends DomainEvent>(
  judgement: Judgement<never, Event, unknown>,
  { stream, cause }: Decision<unknown>,
  events: readonly Event[],
): NewEvent[] => {
  const { handler, clock } = judgement;
  const metadata = metadataOf(cause, handler);
  const occurred_at = clock.now().toISOString();
  return events.map(({ type, data }, index) => ({
    id: eventId({ causeId: cause.id, causeTime: cause.time, handler, stream, index }),
    type,
    schema_version: judgement.schemaVersionOf(type),
    data,
    metadata,
    occurred_at,
  }));
};

const decide = <Command, Event extends DomainEvent, State>(
  judgement: Judgement<Command, Event, State>,
  decision: Decision<Command>,
  { state, version }: CachedState<State>,
): { readonly planned: Planned<Command>; readonly next: CachedState<State> } => {
  const { stream, root } = decision;
  const before = { state, version };
  try {
    const events = judgement.decider.decide(decision.command, state);
    if (events.length === 0) return { planned: { decision, result: { kind: 'nothing' } }, next: before };
    const append = { stream, root, expectedVersion: version, events: signed(judgement, decision, events) };
    const next = { state: fold(judgement.decider, state, events), version: version + events.length };
    return { planned: { decision, result: { kind: 'append', append } }, next };
  } catch (error) {
    // A refusal is an answer; anything else is a bug of this one decision. Neither may stop the decisions beside it.
    return { planned: { decision, result: { kind: 'thrown', error } }, next: before };
  }
};

/** Pure but for the clock: decides one after the other, stores nothing. */
export const planStream = <Command, Event extends DomainEvent, State>(
  judgement: Judgement<Command, Event, State>,
  start: CachedState<State>,
  decisions: readonly Decision<Command>[],
): StreamPlan<Command, State> => {
  const steps: Planned<Command>[] = [];
  const after: CachedState<State>[] = [];
  let current = start;
  for (const decision of decisions) {
    const { planned, next } = decide(judgement, decision, current);
    steps.push(planned);
    after.push(next);
    current = next;
  }
  return { steps, after };
};
