import type { Clock } from '@fixpoint/contracts/clock';
import { metadataSchema, type NewEvent, type RecordedEvent } from '@fixpoint/contracts/envelope';
import { deadLettered } from '@fixpoint/contracts/events/shared-events';
import { deadLetterStream } from '@fixpoint/contracts/streams';
import { fold } from '@fixpoint/decider/decider';
import { eventId } from '@fixpoint/event-store/event-id';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Offer, Reader } from '@fixpoint/messaging/bus';
import { type DeadLetterEvent, deadLetter } from '@fixpoint/messaging/dead-letter';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';

export interface DeadLettersDeps {
  readonly store: Pick<EventStore, 'readStream' | 'append'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly clock: Pick<Clock, 'now'>;
}

export interface GivenUp {
  readonly service: string;
  readonly reader: string;
  readonly offer: Offer;
  readonly deliveries: number;
  readonly reason: string;
}

/** Causes and reasons may quote what could not be read. */
const REASON_LENGTH = 4_000;

/**
 * Records that a reader gave an event up, on the stream of this reader and event; what is recorded already is told again,
 * since the message about it may have been lost.
 * @throws when the store fails or others append at the same time: the offer comes again.
 */
const recordDeadLetter = async ({ store, publisher, clock }: DeadLettersDeps, given: GivenUp): Promise<void> => {
  const stream = streamOf(given);
  const history = await store.readStream(stream);
  const state = fold(deadLetter, deadLetter.initial, history as unknown as readonly DeadLetterEvent[]);
  const facts = deadLetter.decide({ type: 'park_dead_letter', given: dataOf(given) }, state);
  const newest = history.at(-1);
  if (facts.length === 0) {
    if (newest?.type === deadLettered.type) publisher.publish(publicationsOf([newest], null));
    return;
  }
  const cause = causeOf(given.offer.event, newest);
  const events = facts.map(({ data }) => eventOf(data, { given, stream, cause, now: clock.now().toISOString() }));
  const outcome = await store.append({ stream, root: stream, expectedVersion: history.length, events });
  if (outcome.outcome !== 'appended') throw new Error(`${stream}: the dead letter was not stored: ${outcome.outcome}`);
  publisher.publish(publicationsOf(outcome.events, null));
};

/** One reader and one event make one dead letter, whoever of the reader's replicas gives it up. */
const streamOf = ({ service, reader, offer: { event } }: GivenUp): string => {
  const { id, time } = causeOf(event, undefined);
  const stream = deadLetterStream(service);
  return deadLetterStream(`${service}-${eventId({ causeId: id, causeTime: time, handler: reader, stream, index: 0 })}`);
};

interface ParkedFor {
  readonly id: string;
  readonly time: string;
}

/** The first time that is the event itself, later its newest replay. An event may be too broken to have a time. */
const causeOf = (event: RecordedEvent, newest: RecordedEvent | undefined): ParkedFor => {
  const { id, occurred_at: time } = newest ?? event;
  return { id, time: Date.parse(time) >= 0 ? time : new Date(0).toISOString() };
};

const field = (data: unknown, name: string): unknown =>
  typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined;

const dataOf = ({ service, reader, offer: { event }, deliveries, reason }: GivenUp) => {
  const task = field(event.data, 'task');
  const run = field(event.data, 'run');
  return {
    ...{ service, reader, deliveries },
    ...{ event_id: event.id, event_type: event.type, event_version: event.schema_version },
    root: event.root === event.stream ? null : event.root,
    task: typeof task === 'string' ? task : null,
    run: typeof run === 'number' && Number.isInteger(run) ? run : null,
    reason: reason.slice(0, REASON_LENGTH),
  };
};

interface Parking {
  readonly given: GivenUp;
  readonly stream: string;
  readonly cause: ParkedFor;
  readonly now: string;
}

const eventOf = (data: unknown, { given: { reader, offer }, stream, cause, now }: Parking): NewEvent => {
  const { event } = offer;
  const metadata = metadataSchema.safeParse(event.metadata);
  const inherited = metadata.success ? metadata.data : { correlation_id: stream, actor: 'system' };
  return {
    id: eventId({ causeId: cause.id, causeTime: cause.time, handler: reader, stream, index: 0 }),
    type: deadLettered.type,
    schema_version: deadLettered.version,
    data,
    metadata: { ...inherited, causation_id: cause.id, producer: reader },
    occurred_at: now,
  };
};

/** What a reader does with an offer that failed too often. */
export const deadLetterOf =
  (deps: DeadLettersDeps, service: string, reader: string): Reader['deadLetter'] =>
  (offer, deliveries, reason) =>
    recordDeadLetter(deps, { service, reader, offer, deliveries, reason });
