import type { Offer, WorkClass } from './bus.ts';
import type { Retry } from './settlement.ts';

/** A message in hand: its offers, and what can be said of it to the broker. */
export interface HeldMessage {
  /** At least one. */
  readonly offers: readonly Offer[];
  readonly workClass: WorkClass;
  /** Failures counted so far; more than 0 only for a message of one offer. */
  readonly failures: number;
  ack(): void;
  /** Gives it back, to come again after `delayMs`. */
  nak(delayMs: number): void;
  /** Puts one of its offers out as a message of its own, for this reader only. Rejects when the broker did not take it. */
  retry(retry: Retry): Promise<void>;
}

/** Where a work loop finds its messages. */
export interface WorkSource {
  /** At least one message when any waits, then more until they hold `maxOffers`; normal ones before low ones. */
  take(maxOffers: number): HeldMessage[];
  /** Resolves when something may have arrived, or after `wake`. */
  arrival(): Promise<void>;
  wake(): void;
}

/** Which of the waiting messages of one class is taken next; 0 is the oldest. */
export type Pick = (waiting: number) => number;

const oldest: Pick = () => 0;

/** Waiting messages of one reader, in two classes. */
export class WorkBuffer implements WorkSource {
  readonly #waiting: Record<WorkClass, HeldMessage[]> = { normal: [], low: [] };
  readonly #pick: Pick;
  #wakers: (() => void)[] = [];
  #offers = 0;

  constructor(pick: Pick = oldest) {
    this.#pick = pick;
  }

  /** Offers that wait. */
  get size(): number {
    return this.#offers;
  }

  push(held: HeldMessage): void {
    this.#waiting[held.workClass].push(held);
    this.#offers += held.offers.length;
    this.wake();
  }

  take(maxOffers: number): HeldMessage[] {
    const taken: HeldMessage[] = [];
    for (let offers = 0; offers < maxOffers; ) {
      const held = this.#next();
      if (held === undefined) break;
      taken.push(held);
      offers += held.offers.length;
    }
    return taken;
  }

  /** Takes a message out; false when a loop took it before. */
  remove(held: HeldMessage): boolean {
    const queue = this.#waiting[held.workClass];
    const index = queue.indexOf(held);
    if (index === -1) return false;
    queue.splice(index, 1);
    this.#offers -= held.offers.length;
    return true;
  }

  arrival(): Promise<void> {
    return new Promise((resolve) => this.#wakers.push(resolve));
  }

  wake(): void {
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const waker of wakers) waker();
  }

  #next(): HeldMessage | undefined {
    const queue = this.#waiting.normal.length > 0 ? this.#waiting.normal : this.#waiting.low;
    if (queue.length === 0) return undefined;
    const [held] = queue.splice(this.#pick(queue.length), 1);
    this.#offers -= held?.offers.length ?? 0;
    return held;
  }
}
