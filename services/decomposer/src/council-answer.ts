import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { councilStream } from '@fixpoint/contracts/streams';
import type { Cause } from '@fixpoint/event-store/decision-plan';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { runDecision } from '@fixpoint/event-store/run-decision';
import { stateCache } from '@fixpoint/event-store/state-cache';
import type { CouncilRequest } from '@fixpoint/models/council-model';
import { type Council, type CouncilCommand, council, type RequestRef } from './domain/council.ts';

/** One request that is being answered: where its answer stands, and the only way to bring it forward. */
export interface OpenRequest {
  readonly request: CouncilRequest;
  readonly about: RequestRef;
  state(): Council;
  /** @returns what was stored; empty when it was so already. */
  record(command: CouncilCommand): Promise<readonly RecordedEvent[]>;
}

interface Deps {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly handler: string;
}

/** @param event the one that asks. @returns with its answer as far as the store has it. */
export const openRequest = async ({ store, clock, handler }: Deps, event: RecordedEvent): Promise<OpenRequest> => {
  const request = readEvent(event, 'decomposition_requested');
  const stream = councilStream(request.task, request.request);
  const { root, task, address } = request;
  const states = stateCache<Council>(1);
  const known = (await store.readStream(stream)).map(factOf);
  let state = known.reduce(council.evolve, council.initial);
  let decisions = known.length;
  return {
    request,
    about: { root, task, address, request: request.request },
    state: () => state,
    record: async (command) => {
      // One cause has one decision of a handler; the steps of one answer are told apart by how far it is.
      const step = { handler: `${handler}__${command.type}_${decisions}`, schemaVersionOf };
      const decision = { stream, root, command, cause: causeOf(event) };
      const { events } = await runDecision({ store, clock, states, decider: council, ...step }, decision);
      state = events.map(factOf).reduce(council.evolve, state);
      decisions += events.length;
      return events;
    },
  };
};

const factOf = (event: RecordedEvent) => event as unknown as Parameters<typeof council.evolve>[1];

const schemaVersionOf = (type: string): number => definitionOf(type)?.version ?? 1;

const causeOf = ({ id, occurred_at, root, metadata }: RecordedEvent): Cause => ({
  id,
  time: occurred_at,
  actor: metadata.actor,
  correlation_id: root,
  ...(metadata.traceparent === undefined ? {} : { traceparent: metadata.traceparent }),
});
