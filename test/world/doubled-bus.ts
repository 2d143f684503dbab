import { READERS } from '@fixpoint/contracts/services';
import type { Bus, Offer } from '@fixpoint/messaging/bus';

/** A bus that publishes everything several times, and knows what of it nobody has answered. */
export interface DoubledBus extends Bus {
  readonly underway: () => number;
  readonly onAnswered: (reader: string, offer: Offer) => void;
}

const readersOf = (type: string): string[] =>
  Object.entries(READERS).flatMap(([reader, types]) => ((types as readonly string[]).includes(type) ? [reader] : []));

export const doubledBus = (inner: Bus, copies: number): DoubledBus => {
  /** By reader and event. A broker may deliver more often than it was told: that answers for no other event. */
  const open = new Map<string, number>();
  const add = (reader: string, { event }: Offer, count: number): void => {
    const key = `${reader} ${event.id}`;
    open.set(key, Math.max(0, (open.get(key) ?? 0) + count));
  };
  return {
    underway: () => [...open.values()].reduce((sum, count) => sum + count, 0),
    onAnswered: (reader, offer) => add(reader, offer, -1),
    publish: async (publications) => {
      for (const { offer } of publications) {
        for (const reader of readersOf(offer.event.type)) add(reader, offer, copies);
      }
      for (let copy = 0; copy < copies; copy += 1) await inner.publish(publications);
    },
    subscribe: (reader) => inner.subscribe(reader),
    listen: (types, onOffer) => inner.listen(types, onOffer),
    watch: (onPublished) => inner.watch(onPublished),
    healthy: () => inner.healthy(),
    close: () => inner.close(),
  };
};
