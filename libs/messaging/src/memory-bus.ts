import type { Clock } from '@fixpoint/contracts/clock';
import type { Bus, Offer, Publication, Reader, ReaderSubscription, Subscription } from './bus.ts';
import { type DeliveryPolicy, faithful } from './delivery-policy.ts';
import { failureDelay, type Retry } from './settlement.ts';
import { type HeldMessage, WorkBuffer } from './work-buffer.ts';
import { type Report, WorkLoop } from './work-loop.ts';

export interface MemoryBusOptions {
  readonly clock: Clock;
  readonly report: Report;
  /** Default: every message once, in order. */
  readonly policy?: DeliveryPolicy;
  /** Wait before an offer that failed `failures` times is delivered again. Default: 1 s, doubled, at most 30 s. */
  failureDelayMs?(failures: number): number;
}

/**
 * A bus inside one process: the embedded default where there is no NATS, and the bus of the simulator.
 * Messages of a reader outlive its subscriptions, not the process: the healer covers that, as it covers a wiped broker.
 */
export const memoryBus = (options: MemoryBusOptions): Bus => new MemoryBus(options);

interface Queue {
  readonly types: ReadonlySet<string>;
  readonly buffer: WorkBuffer;
  /** Messages that were not acked yet. */
  unacked: number;
}

interface Listener {
  readonly types: ReadonlySet<string>;
  readonly onOffer: (offer: Offer) => void;
}

class MemoryBus implements Bus {
  readonly #options: MemoryBusOptions;
  readonly #policy: DeliveryPolicy;
  /** By reader name. Two subscriptions of one reader share its queue. */
  readonly #queues = new Map<string, Queue>();
  readonly #loops = new Set<WorkLoop>();
  readonly #listeners = new Set<Listener>();
  readonly #watchers = new Set<() => void>();
  readonly #closed = new AbortController();

  constructor(options: MemoryBusOptions) {
    this.#options = options;
    this.#policy = options.policy ?? faithful;
  }

  async publish(publications: readonly Publication[]): Promise<void> {
    this.#refuseWhenClosed();
    for (const watcher of this.#watchers) queueMicrotask(watcher);
    for (const publication of publications) {
      if (publication.only === undefined) this.#tellListeners(publication.offer);
      for (const [reader, queue] of this.#queues) {
        if (isFor(publication, reader, queue)) this.#push(reader, queue, publication);
      }
    }
  }

  async subscribe(reader: Reader): Promise<ReaderSubscription> {
    this.#refuseWhenClosed();
    const queue = this.#queue(reader);
    const loop = new WorkLoop({
      reader,
      source: queue.buffer,
      clock: this.#options.clock,
      report: this.#options.report,
      failureDelayMs: this.#options.failureDelayMs ?? failureDelay,
      onRoom: () => undefined,
    });
    this.#loops.add(loop);
    return {
      healthy: () => this.#loops.has(loop),
      backlog: async () => queue.unacked,
      drain: (signal) => {
        this.#loops.delete(loop);
        return loop.drain(signal);
      },
    };
  }

  async listen(types: readonly string[], onOffer: (offer: Offer) => void): Promise<Subscription> {
    this.#refuseWhenClosed();
    const listener = { types: new Set(types), onOffer };
    this.#listeners.add(listener);
    return {
      healthy: () => this.#listeners.has(listener),
      drain: async () => {
        this.#listeners.delete(listener);
      },
    };
  }

  async watch(onPublished: () => void): Promise<Subscription> {
    this.#refuseWhenClosed();
    const watcher = (): void => onPublished();
    this.#watchers.add(watcher);
    return {
      healthy: () => this.#watchers.has(watcher),
      drain: async () => {
        this.#watchers.delete(watcher);
      },
    };
  }

  healthy(): boolean {
    return !this.#closed.signal.aborted;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#listeners.clear();
    this.#watchers.clear();
    const loops = [...this.#loops];
    this.#loops.clear();
    await Promise.all(loops.map((loop) => loop.drain(AbortSignal.abort())));
  }

  #refuseWhenClosed(): void {
    if (!this.healthy()) throw new Error('The bus is closed');
  }

  #queue(reader: Reader): Queue {
    const known = this.#queues.get(reader.name);
    if (known !== undefined) return known;
    const queue = { types: new Set(reader.types), buffer: new WorkBuffer(this.#policy.pick), unacked: 0 };
    this.#queues.set(reader.name, queue);
    return queue;
  }

  #push(reader: string, queue: Queue, publication: Publication): void {
    const failures = publication.only?.failures ?? 0;
    const copies = this.#policy.copies(publication, reader);
    queue.unacked += copies;
    for (let copy = 0; copy < copies; copy += 1) queue.buffer.push(this.#held(queue, publication, failures));
  }

  #tellListeners(offer: Offer): void {
    for (const { types, onOffer } of this.#listeners) {
      if (!types.has(offer.event.type)) continue;
      // Never inside the publisher's own call: it would run before what the publisher does next.
      queueMicrotask(() => onOffer(offer));
    }
  }

  #held(queue: Queue, publication: Publication, failures: number): HeldMessage {
    const again = (count: number, delayMs: number): void => {
      void this.#later(delayMs, () => queue.buffer.push(this.#held(queue, publication, count)));
    };
    return {
      offers: [publication.offer],
      workClass: publication.workClass,
      failures,
      ack: () => {
        queue.unacked -= 1;
      },
      nak: (delayMs) => again(failures, delayMs),
      retry: async (retry: Retry) => {
        queue.unacked += 1;
        again(retry.failures, retry.delayMs);
      },
    };
  }

  async #later(delayMs: number, then: () => void): Promise<void> {
    await this.#options.clock.sleep(delayMs, this.#closed.signal);
    if (this.healthy()) then();
  }
}

const isFor = ({ offer, only }: Publication, reader: string, { types }: Queue): boolean =>
  types.has(offer.event.type) && (only === undefined || only.reader === reader);
