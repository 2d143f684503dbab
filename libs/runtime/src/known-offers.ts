import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Epoch } from '@fixpoint/event-store/server-identity';
import type { Bus, Offer, Reader, Verdict } from '@fixpoint/messaging/bus';
import type { Log } from './log.ts';

export interface KnownOffersOptions {
  readonly store: Pick<EventStore, 'find'>;
  /** In which this process began. */
  readonly epoch: Epoch;
  readonly log: Log;
}

/** Whoever decided an event had a clock of his own. */
const SKEW_MS = 60_000;

const DONE: Verdict = { verdict: 'done' };

/**
 * A bus that may be ahead of its store: after a restore or a failover it still has messages of events that are gone. What
 * was decided before the store's epoch began is looked up once more, and acked without being handled when the store does
 * not have it: whoever really waits for it is offered what the store has. Costs nothing in the first epoch, and nothing for
 * events of the current one.
 */
export const knownOffers = (bus: Bus, options: KnownOffersOptions): Bus =>
  options.epoch.number === 1
    ? bus
    : {
        publish: (publications) => bus.publish(publications),
        subscribe: (reader) => bus.subscribe(knowing(reader, options)),
        listen: (types, onOffer) => bus.listen(types, onOffer),
        watch: (onPublished) => bus.watch(onPublished),
        healthy: () => bus.healthy(),
        close: () => bus.close(),
      };

const knowing = (reader: Reader, options: KnownOffersOptions): Reader => ({
  ...reader,
  handle: async (offers, signal) => {
    const known = await Promise.all(offers.map((offer) => isKnown(offer, options)));
    if (known.every(Boolean)) return reader.handle(offers, signal);
    const rest = offers.filter((_, index) => known[index]);
    const verdicts = rest.length === 0 ? [] : await reader.handle(rest, signal);
    let next = 0;
    return known.map((each) => {
      if (!each) return DONE;
      next += 1;
      return verdicts[next - 1] ?? DONE;
    });
  },
  deadLetter: (...given) => reader.deadLetter(...given),
});

const isKnown = async ({ event }: Offer, { store, epoch, log }: KnownOffersOptions): Promise<boolean> => {
  const isOfThisEpoch = Date.parse(event.occurred_at) > Date.parse(epoch.beganAt) + SKEW_MS;
  if (isOfThisEpoch) return true;
  // Made anew from the same cause it has the same id, and may still be another event.
  if ((await store.find(event.id))?.hash === event.hash) return true;
  log.warn(
    { event_id: event.id, type: event.type, stream: event.stream },
    'an event that the store has lost was offered',
  );
  return false;
};
