import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { eventId } from '@fixpoint/event-store/event-id';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { AppendRejected } from '@fixpoint/event-store/run-decision';
import { type Action, type ActionCommand, type ActionEvent, action } from './domain/action.ts';

/** Somebody else wrote the run's stream: it was revoked, or declared lost. Final: kill, clean up, forget. */
export class RunLost extends Error {
  override readonly name = 'RunLost';
}

/** The stream of one run, written by nobody but this process while it owns the run. */
export interface ActionLog {
  readonly state: () => Action;
  /** What the stream held when it was opened, then everything appended since. */
  readonly events: () => readonly RecordedEvent[];
  /**
   * Decides and appends; calls are to be made one after the other.
   * @returns what was appended; empty when it was already so.
   * @throws {RunLost} when another writer was first.
   */
  append(command: ActionCommand): Promise<readonly RecordedEvent[]>;
}

export interface ActionLogDeps {
  readonly store: Pick<EventStore, 'append'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly producer: string;
}

/**
 * @param cause the `governance_passed` (or, for a reaper, the `action_started`) that this run answers.
 * @param history the stream so far; empty for a run that nobody has touched.
 */
export const actionLog = (
  deps: ActionLogDeps,
  target: { readonly stream: string; readonly root: string; readonly cause: RecordedEvent },
  history: readonly RecordedEvent[],
): ActionLog => {
  let events = history;
  let state = history.reduce((folded, event) => action.evolve(folded, event as unknown as ActionEvent), action.initial);

  return {
    state: () => state,
    events: () => events,
    async append(command) {
      const decided = action.decide(command, state);
      if (decided.length === 0) return [];
      const outcome = await deps.store.append({
        stream: target.stream,
        root: target.root,
        expectedVersion: events.length,
        events: decided.map((event, index) => newEvent(deps, target, { event, index: events.length + index })),
      });
      if (outcome.outcome === 'conflict') throw new RunLost(`${target.stream}: another writer was first`);
      if (outcome.outcome === 'rejected') throw new AppendRejected(target.stream, outcome.code, outcome.detail);
      events = [...events, ...outcome.events];
      state = decided.reduce(action.evolve, state);
      return outcome.events;
    },
  };
};

const newEvent = (
  deps: ActionLogDeps,
  target: { readonly stream: string; readonly root: string; readonly cause: RecordedEvent },
  { event, index }: { readonly event: ActionEvent; readonly index: number },
) => ({
  id: eventId({
    causeId: target.cause.id,
    causeTime: target.cause.occurred_at,
    handler: deps.producer,
    stream: target.stream,
    index,
  }),
  type: event.type,
  schema_version: definitionOf(event.type)?.version ?? 1,
  data: event.data,
  metadata: {
    causation_id: target.cause.id,
    correlation_id: target.root,
    producer: deps.producer,
    actor: 'system',
  },
  occurred_at: deps.clock.now().toISOString(),
});
