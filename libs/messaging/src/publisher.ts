import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { isConsumed } from '@fixpoint/contracts/services';
import type { Bus, Publication, WorkClass } from './bus.ts';

/**
 * What of a commit goes out on WORK: only types that somebody reads, each with the `node_ready` that it answers.
 * @param nodeReady the run's `node_ready`, or null for events that answer none (or are one).
 */
export const publicationsOf = (
  events: readonly RecordedEvent[],
  nodeReady: RecordedEvent | null,
  reoffer = '',
): Publication[] =>
  events
    .filter((event) => isConsumed(event.type))
    .map((event) => ({
      offer: { event, nodeReady: event.type === 'node_ready' ? null : nodeReady },
      workClass: workClassOf(event.type === 'node_ready' ? event : nodeReady),
      reoffer,
    }));

const workClassOf = (nodeReady: RecordedEvent | null): WorkClass => {
  const data = nodeReady?.data as { work_class?: WorkClass } | undefined;
  return data?.work_class ?? 'normal';
};

/** Publishing right after commit without waiting for it: the healer covers what is lost. */
export interface Publisher {
  /** Returns at once. A failed publish is reported, never thrown: the events are stored. */
  publish(publications: readonly Publication[]): void;
  /** Resolves when nothing is in flight. */
  settled(): Promise<void>;
}

export const publisher = (
  bus: Pick<Bus, 'publish'>,
  onLost: (error: unknown, publications: readonly Publication[]) => void,
): Publisher => {
  const inFlight = new Set<Promise<void>>();
  return {
    publish(publications) {
      if (publications.length === 0) return;
      const sent = bus
        .publish(publications)
        .catch((error: unknown) => onLost(error, publications))
        .finally(() => inFlight.delete(sent));
      inFlight.add(sent);
    },
    settled: async () => {
      await Promise.all(inFlight);
    },
  };
};
