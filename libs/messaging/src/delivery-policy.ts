import type { Offer, Publication } from './bus.ts';

/** What a broker does with messages on their way; the memory bus obeys it. A fault plan of the simulator is one. */
export interface DeliveryPolicy {
  /** How many times this publication reaches this reader: 0 loses it, 2 repeats it. */
  copies(publication: Publication, reader: string): number;
  /** Which of `waiting` messages (at least one) is delivered next: 0 is the oldest. */
  pick(waiting: number): number;
}

/** Every message once, oldest first. */
export const faithful: DeliveryPolicy = { copies: () => 1, pick: () => 0 };

/** Every message twice, one right after the other. */
export const everythingTwice: DeliveryPolicy = { copies: () => 2, pick: () => 0 };

/** Of the messages that wait, the newest first. */
export const newestFirst: DeliveryPolicy = { copies: () => 1, pick: (waiting) => waiting - 1 };

/** The first delivery of each event to each reader is lost; only re-offers arrive. Made anew for each run. */
export const firstDeliveryLost = (): DeliveryPolicy => {
  const seen = new Set<string>();
  const isFirst = (offer: Offer, reader: string): boolean => {
    const key = `${reader} ${offer.event.id}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  };
  return { copies: ({ offer }, reader) => (isFirst(offer, reader) ? 0 : 1), pick: () => 0 };
};
