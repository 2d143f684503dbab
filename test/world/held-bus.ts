import type { Clock } from '@fixpoint/contracts/clock';
import type { Bus, Publication } from '@fixpoint/messaging/bus';

/** What happens to the message that is next: it arrives so many times (0: never), or is put off and then arrives once. */
export type Fate = { readonly copies: number } | { readonly laterMs: number };

/** Decides about messages on their way. */
export interface Route {
  /** Index of the one that is next among those that wait, of which there is at least one. */
  next(waiting: readonly Publication[]): number;
  fate(publication: Publication): Fate;
}

/** A bus that keeps every message until it is told to let one go: the world then decides about all order there is. */
export interface HeldBus extends Bus {
  /** Decides about one message that is due; false when none is. */
  letGo(route: Route): Promise<boolean>;
  /** Ms until a message is due; null when none waits. */
  nextDueMs(): number | null;
  /** Loses everything that waits. */
  wipe(): void;
  /** Everything that was ever published, in order. */
  readonly published: readonly Publication[];
}

interface Held {
  readonly publication: Publication;
  readonly dueMs: number;
  readonly isPutOff: boolean;
}

const ONCE: Fate = { copies: 1 };

export const heldBus = (inner: Bus, clock: Pick<Clock, 'monotonicMs'>): HeldBus => {
  let waiting: Held[] = [];
  const published: Publication[] = [];

  const arrive = async (publication: Publication, fate: Fate): Promise<void> => {
    if ('laterMs' in fate) {
      waiting.push({ publication, dueMs: clock.monotonicMs() + fate.laterMs, isPutOff: true });
      return;
    }
    for (let copy = 0; copy < fate.copies; copy += 1) await inner.publish([publication]);
  };

  return {
    published,
    publish: async (publications) => {
      published.push(...publications);
      const dueMs = clock.monotonicMs();
      waiting.push(...publications.map((publication) => ({ publication, dueMs, isPutOff: false })));
    },
    letGo: async (route) => {
      const due = waiting.filter(({ dueMs }) => dueMs <= clock.monotonicMs());
      if (due.length === 0) return false;
      const chosen = due[route.next(due.map(({ publication }) => publication))] ?? due[0];
      waiting = waiting.filter((held) => held !== chosen);
      if (chosen === undefined) return false;
      await arrive(chosen.publication, chosen.isPutOff ? ONCE : route.fate(chosen.publication));
      return true;
    },
    nextDueMs: () =>
      waiting.length === 0 ? null : Math.max(0, Math.min(...waiting.map(({ dueMs }) => dueMs)) - clock.monotonicMs()),
    wipe: () => {
      waiting = [];
    },
    subscribe: (reader) => inner.subscribe(reader),
    listen: (types, onOffer) => inner.listen(types, onOffer),
    watch: (onPublished) => inner.watch(onPublished),
    healthy: () => inner.healthy(),
    close: () => inner.close(),
  };
};
