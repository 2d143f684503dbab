import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Told } from './history.fixture.ts';

/** Appends what is told, one event at a time, so that the store's order is the order of telling. */
export const append = async (store: EventStore, told: readonly Told[]): Promise<void> => {
  const versions = new Map<string, number>();
  for (const { stream, root, event } of told) {
    const expectedVersion = versions.get(stream) ?? (await store.readStream(stream)).length;
    const outcome = await store.append({ stream, root, expectedVersion, events: [event] });
    if (outcome.outcome !== 'appended') throw new Error(`${event.type} on ${stream}: ${JSON.stringify(outcome)}`);
    versions.set(stream, expectedVersion + 1);
  }
};
