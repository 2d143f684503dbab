import type { RecordedEvent } from '@fixpoint/contracts/envelope';

/** Two work classes: `low` is served when nothing normal waits. */
export type WorkClass = 'normal' | 'low';

/** One event offered to a reader, with the `node_ready` that it answers where it answers one. */
export interface Offer {
  readonly event: RecordedEvent;
  /** The `node_ready` event behind a gate, action or judgement; saves its readers a read. Null for other events. */
  readonly nodeReady: RecordedEvent | null;
  /** W3C traceparent of whoever sent it, with telemetry only: not always who made the event. Lost in a message of several traces. */
  readonly sentBy?: string;
}

/** What was committed together and goes out together. */
export interface Publication {
  readonly offer: Offer;
  readonly workClass: WorkClass;
  /** Distinguishes a re-offer from the first one: '' for the first, else a value never used before for this event. */
  readonly reoffer: string;
  /** Set: for this reader alone, which has failed on it so often before. Absent: for every reader of its type. */
  readonly only?: Addressee;
}

export interface Addressee {
  readonly reader: string;
  /** Failed deliveries that go on being counted. */
  readonly failures: number;
}

/**
 * What a handler says of one offer.
 * `done`: committed or nothing to do → ack. `later`: world is not ready (lost connection, version conflict, live lease,
 * shutting down) → nak with delay, never counted. `failed`: the handler failed on this message while store and bus were
 * healthy → counted; at the reader's limit it becomes a dead letter.
 */
export type Verdict =
  | { readonly verdict: 'done' }
  | { readonly verdict: 'later'; readonly delayMs: number; readonly reason: string }
  | {
      readonly verdict: 'failed';
      readonly error: string;
      /** True: it would fail in the same way wherever and whenever it is offered, so it is a dead letter at once. */
      readonly isFinal?: boolean;
    };

/** A durable reader: name, filter, handler. `<service>__<reader>` is its durable name and checkpoint key. */
export interface Reader {
  readonly name: string;
  /** Event types it consumes; one consumer per (type, class). */
  readonly types: readonly string[];
  /** `batch`: many offers at once (pure handlers). `pool`: single offers, at most this many at a time, kept alive while they run. */
  readonly mode:
    | { readonly kind: 'batch'; readonly max: number }
    | { readonly kind: 'pool'; readonly concurrency: number };
  /** Deliveries that count before an offer is dead-lettered. */
  readonly maxFailures: number;
  /** One verdict per offer, in order. A thrown error means `later` for all (the world failed, not the
   * message), but for errors that only a bug throws (`TypeError` and its like): offers are asked about alone, and what throws
   * then has failed. */
  handle(offers: readonly Offer[], signal: AbortSignal): Promise<readonly Verdict[]>;
  /** Called once per offer that reached `maxFailures`, before its ack: records the dead letter. Throwing re-offers. */
  deadLetter(offer: Offer, deliveries: number, error: string): Promise<void>;
}

export interface Subscription {
  /** False when deaf: the pull loop or its connection is dead. Feeds readiness. */
  healthy(): boolean;
  /**
   * Stops taking new work, waits for work in hand, acks it. When the signal aborts, handlers are told by theirs, and have
   * a moment more to store how their work ended.
   */
  drain(signal: AbortSignal): Promise<void>;
}

export interface ReaderSubscription extends Subscription {
  /**
   * Messages that wait for the reader, in whatever process, or were delivered and not acked. A broker is asked once per
   * consumer, which costs it something: ask seldom. Null when the broker is out of reach.
   */
  backlog(): Promise<number | null>;
}

/**
 * Wake-ups that carry the event. At least once, late, lost, in any order: the store is the truth.
 * The memory and the JetStream adapter pass `bus.contract.ts`.
 */
export interface Bus {
  /** Never awaited one by one by callers on the hot path; rejects when the bus is down (the healer covers it). */
  publish(publications: readonly Publication[]): Promise<void>;
  subscribe(reader: Reader): Promise<ReaderSubscription>;
  /** Ephemeral: every live process sees each event of these types published from now on; may be missed. */
  listen(types: readonly string[], onOffer: (offer: Offer) => void): Promise<Subscription>;
  /** Ephemeral: called when some process published something; a hint for those who poll the store. May be missed. */
  watch(onPublished: () => void): Promise<Subscription>;
  healthy(): boolean;
  close(): Promise<void>;
}
