import { decomposerEvents } from './decomposer-events.ts';
import type { EventOf, ServiceName } from './define.ts';
import { executorEvents } from './executor-events.ts';
import { type lineageEvents, orchestratorEvents } from './lineage-events.ts';
import { sharedEvents } from './shared-events.ts';
import { validatorEvents } from './validator-events.ts';

/** Every event type there is, each with owner, version and schema. */
export const eventCatalogue = [
  ...orchestratorEvents,
  ...validatorEvents,
  ...executorEvents,
  ...decomposerEvents,
  ...sharedEvents,
] as const;

export type FixpointEvent = EventOf<(typeof eventCatalogue)[number]>;
export type EventType = FixpointEvent['type'];
export type LineageEvent = EventOf<(typeof lineageEvents)[number]>;
export type ValidatorEvent = EventOf<(typeof validatorEvents)[number]>;
export type ExecutorEvent = EventOf<(typeof executorEvents)[number]>;
export type DecomposerEvent = EventOf<(typeof decomposerEvents)[number]>;

/** The event of one type: `EventNamed<'node_ready'>`. */
export type EventNamed<Type extends EventType> = Extract<FixpointEvent, { type: Type }>;

const byType = new Map<string, (typeof eventCatalogue)[number]>(
  eventCatalogue.map((definition) => [definition.type, definition]),
);

/** Undefined for a type this build does not know. */
export const definitionOf = (type: string): (typeof eventCatalogue)[number] | undefined => byType.get(type);

/** What the store's insert policy is made from. */
export const eventOwners = (): { type: string; owner: ServiceName }[] =>
  eventCatalogue.flatMap((definition) => definition.owners.map((owner) => ({ type: definition.type, owner })));
