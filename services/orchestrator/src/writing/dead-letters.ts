import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf, type EventType } from '@fixpoint/contracts/events/catalogue';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import type { HandledDeadLetter } from '@fixpoint/contracts/rest/dead-letters';
import { READERS } from '@fixpoint/contracts/services';
import { deadLetterStream } from '@fixpoint/contracts/streams';
import { fold } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { runDecision } from '@fixpoint/event-store/run-decision';
import { stateCache } from '@fixpoint/event-store/state-cache';
import {
  type DeadLetter,
  type DeadLetterCommand,
  type DeadLetterEvent,
  deadLetter,
} from '@fixpoint/messaging/dead-letter';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import { type Lineages, LineageUnknown } from '../lineages.ts';

const DEAD_LETTERS = 'orchestrator__dead_letters';

export interface DeadLetterDeps {
  readonly store: EventStore;
  readonly lineages: Lineages;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Offers the event of a dead letter to its reader once more, and withdraws the handoff that it had opened. Failures
 * count on, so for a reader that had used up its tries one more parks it again. Asked again, it changes nothing, unless `again` says that the first offer was lost.
 * @param actor name of the API key.
 * @throws {Refused} `dead_letter_unknown`, `dead_letter_discarded`, `event_not_stored`, `reader_unknown`.
 */
export const replayDeadLetter = async (
  deps: DeadLetterDeps,
  { letter, again, actor }: { readonly letter: string; readonly again: boolean; readonly actor: string },
): Promise<HandledDeadLetter> => {
  const given = await givenUp(deps.store, letter);
  const event = await deps.store.find(given.event_id);
  if (event === null)
    throw new Refused('event_not_stored', `${given.event_id} is not in the store: it can be discarded`);
  if (!readsType(given.reader, event.type))
    throw new Refused('reader_unknown', `${given.reader} reads no ${event.type}`);
  const step = await record(deps, { type: 'replay_dead_letter', letter, again }, actor);
  try {
    await endHandoff(deps, step.newest);
  } finally {
    // After the handoff, which is opened anew when the event fails again; but an offer that was recorded is made.
    if (step.handled.changed) deps.publisher.publish(offerTo(event, given, deps.ids.uuid()));
  }
  return step.handled;
};

/**
 * Has the reader go on without the event, and withdraws the handoff that the dead letter had opened.
 * @throws {Refused} `dead_letter_unknown`.
 */
export const discardDeadLetter = async (
  deps: DeadLetterDeps,
  { letter, reason, actor }: { readonly letter: string; readonly reason: string; readonly actor: string },
): Promise<HandledDeadLetter> => {
  const step = await record(deps, { type: 'discard_dead_letter', letter, reason }, actor);
  await endHandoff(deps, step.newest);
  return step.handled;
};

type Known = Exclude<DeadLetter, { status: 'unknown' }>;

const stateOf = async (store: Pick<EventStore, 'readStream'>, letter: string) => {
  const history = await store.readStream(deadLetterStream(letter));
  const state = fold(deadLetter, deadLetter.initial, history as unknown as readonly DeadLetterEvent[]);
  return { state, newest: history.at(-1) };
};

const givenUp = async (store: EventStore, letter: string): Promise<Known['given'] & Pick<Known, 'deliveries'>> => {
  const { state } = await stateOf(store, letter);
  if (state.status === 'unknown') throw new Refused('dead_letter_unknown', letter);
  return { ...state.given, deliveries: state.deliveries };
};

const readsType = (reader: string, type: string): boolean =>
  (READERS as Readonly<Record<string, readonly EventType[]>>)[reader]?.some((each) => each === type) ?? false;

const offerTo = (
  event: RecordedEvent,
  { reader, deliveries }: Pick<Known['given'], 'reader' | 'deliveries'>,
  id: string,
) => publicationsOf([event], null, id).map((each) => ({ ...each, only: { reader, failures: deliveries } }));

type Order = Exclude<DeadLetterCommand, { type: 'park_dead_letter' }>;

interface Step {
  readonly handled: HandledDeadLetter;
  /** The newest event of the letter: this step, or the one that made it needless. */
  readonly newest: RecordedEvent;
}

const record = async ({ store, clock, ids }: DeadLetterDeps, command: Order, actor: string): Promise<Step> => {
  const { letter } = command;
  const stream = deadLetterStream(letter);
  const shell = {
    ...{ store, clock, decider: deadLetter, handler: DEAD_LETTERS, states: stateCache<DeadLetter>(1) },
    schemaVersionOf: (type: string) => definitionOf(type)?.version ?? 1,
  };
  const cause = { id: ids.uuid(), time: clock.now().toISOString(), actor, correlation_id: stream };
  const { events } = await runDecision(shell, { stream, root: stream, command, cause });
  const { state, newest } = await stateOf(store, letter);
  if (newest === undefined || state.status === 'unknown') throw new Error(`${stream} has no events`);
  const { status, deliveries, replays } = state;
  const cursor = cursorToken((events.at(-1) ?? newest).cursor);
  return { handled: { letter, status, deliveries, replays, changed: events.length > 0, cursor }, newest };
};

/** Also for a step that was recorded before: whoever recorded it may have come no further. */
const endHandoff = async ({ lineages, publisher }: DeadLetterDeps, step: RecordedEvent): Promise<void> => {
  const { type: ended, data: letter } = parseEvent(step);
  if (ended !== 'dead_letter_replayed' && ended !== 'dead_letter_discarded') return;
  if (letter.root === null) return;
  const cause = { id: step.id, time: step.occurred_at, actor: step.metadata.actor };
  const command = { type: 'end_dead_letter' as const, letter, ended };
  try {
    const decision = await lineages.commandFor({ root: letter.root, command, cause, nodeReady: null });
    const [outcome] = await lineages.decide(DEAD_LETTERS, [decision]);
    if (outcome?.outcome === 'failed') throw outcome.error;
    if (outcome?.outcome === 'decided') publisher.publish(publicationsOf(outcome.events, null));
  } catch (error) {
    // A broken event may name any lineage.
    if (!(error instanceof LineageUnknown)) throw error;
  }
};
