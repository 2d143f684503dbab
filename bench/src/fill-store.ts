import { randomUUID } from 'node:crypto';
import type { NewEvent, RecordedEvent } from '@fixpoint/contracts/envelope';
import { eventId } from '@fixpoint/event-store/event-id';
import type { Append, EventStore } from '@fixpoint/event-store/event-store';

/** Streams of a one-node lineage; its task has the id of its root. */
const streamsOf = (root: string): readonly string[] => [`lineage-${root}`, `gate-${root}-1`, `action-${root}-1`];

/** The events of one lineage that really ran, by stream: what others are made like. */
export const lineageTemplate = async (
  store: Pick<EventStore, 'readStreams'>,
  root: string,
): Promise<readonly (readonly RecordedEvent[])[]> => {
  const streams = await store.readStreams(streamsOf(root));
  const events = [...streams.values()];
  if (events.some((each) => each.length === 0)) throw new Error(`${root} has a stream without events`);
  return events;
};

/** Many streams go into one statement. */
const LINEAGES_AT_ONCE = 100;

export interface Filling {
  readonly store: Pick<EventStore, 'appendAll'>;
  readonly template: readonly (readonly RecordedEvent[])[];
  readonly lineages: number;
  onProgress(lineages: number): void;
}

/** Appends lineages that went like the template, each with ids of its own. @returns the number of events. */
export const fillStore = async ({ store, template, lineages, onProgress }: Filling): Promise<number> => {
  const root = template[0]?.[0]?.root ?? '';
  // Encoded once: only the id of the root is another one in each copy.
  const text = JSON.stringify(template.flat());
  const perLineage = template.flat().length;
  for (let done = 0; done < lineages; done += LINEAGES_AT_ONCE) {
    const some = Array.from({ length: Math.min(LINEAGES_AT_ONCE, lineages - done) }, () => copyOf(text, root)).flat();
    const outcomes = await store.appendAll(some);
    const lost = outcomes.find(({ outcome }) => outcome !== 'appended');
    if (lost !== undefined) throw new Error(`a copied lineage was not stored: ${JSON.stringify(lost)}`);
    onProgress(Math.min(lineages, done + LINEAGES_AT_ONCE));
  }
  return lineages * perLineage;
};

const copyOf = (text: string, root: string): readonly Append[] => {
  const own = randomUUID();
  const events: readonly RecordedEvent[] = JSON.parse(text.replaceAll(root, own));
  return [...Map.groupBy(events, ({ stream }) => stream)].map(([stream, group]) => ({
    ...{ stream, root: own, expectedVersion: 0 },
    events: group.map((event, index) => newEvent(event, index)),
  }));
};

const newEvent = (
  { stream, type, schema_version, data, metadata, occurred_at, id }: RecordedEvent,
  index: number,
): NewEvent => ({
  id: eventId({ causeId: id, causeTime: occurred_at, handler: metadata.producer, stream, index }),
  ...{ type, schema_version, data, metadata, occurred_at },
});
