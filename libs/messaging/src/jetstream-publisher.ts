import type { Clock } from '@fixpoint/contracts/clock';
import type { MsgHdrs } from '@nats-io/transport-node';
import type { Offer, Publication } from './bus.ts';
import { addressedTo, tracedHeaders } from './delivery.ts';
import type { JetStreamLink } from './jetstream-link.ts';
import { deleteStream, isStreamBroken, type Names } from './jetstream-topology.ts';
import { MESSAGE_LIMITS, type MessageLimits, type OutgoingMessage, packMessages } from './wire-message.ts';
import { within } from './within.ts';

export interface PublisherOptions {
  readonly link: JetStreamLink;
  readonly names: Names;
  readonly clock: Clock;
  /** True for an event whose work is long: it travels alone, so that such events spread over instances. */
  spread(offer: Offer): boolean;
}

/** One call of `publish`, which waits for all its publications. */
interface Call {
  left: number;
  settle(error: unknown): void;
}

interface Waiting {
  readonly publication: Publication;
  readonly call: Call;
}

const ACK_TIMEOUT_MS = 5_000;
const REPAIR_TIMEOUT_MS = 3_000;

/**
 * Joins what is published in one turn of the event loop into one message per destination: what one group commit stored
 * goes out together, and nothing waits for company. Messages are pipelined. They carry no `Nats-Msg-Id`: the server's
 * window would swallow a re-offer, and readers know a repeated event anyway.
 */
export class JetStreamPublisher {
  readonly #options: PublisherOptions;
  #waiting: Waiting[] = [];

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Resolves when the broker has stored all of them; rejects when it did not say so for one of them. */
  publish(publications: readonly Publication[]): Promise<void> {
    if (publications.length === 0) return Promise.resolve();
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    return new Promise((resolve, reject) => {
      const call = callOf(publications.length, resolve, reject);
      for (const publication of publications) this.#waiting.push({ publication, call });
    });
  }

  /** One message for one reader; the others of its type ack it unread. */
  #headersOf({ offer, only }: Publication): MsgHdrs | undefined {
    if (only === undefined) return undefined;
    const retry = { offer, failures: only.failures, delayMs: 0 };
    return addressedTo(only.reader, retry, this.#options.clock.now().getTime());
  }

  /**
   * Puts one offer back as a message of its own.
   * @param subject where it came from: an event of another type than its subject's would be lost on its own.
   */
  async putBack(offer: Offer, subject: string, headers: MsgHdrs): Promise<void> {
    const publication: Publication = { offer, workClass: 'normal', reoffer: '' };
    for (const message of packMessages([{ publication }], this.#limits()))
      await this.#send(subject, message.body, headers);
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [subject, items] of this.#bySubject(waiting)) {
      const [addressed, open] = partition(items, ({ publication }) => publication.only !== undefined);
      for (const message of this.#pack(open)) void this.#deliver(subject, message, headersOf(message));
      for (const item of addressed) {
        const [message] = packMessages([item], this.#limits());
        if (message !== undefined) void this.#deliver(subject, message, this.#headersOf(item.publication));
      }
    }
  }

  #bySubject(waiting: readonly Waiting[]): Map<string, Waiting[]> {
    return Map.groupBy(waiting, ({ publication: { offer, workClass } }) =>
      this.#options.names.subject(offer.event.type, workClass),
    );
  }

  #pack(items: readonly Waiting[]): OutgoingMessage<Waiting>[] {
    const [alone, together] = partition(items, (item) => this.#options.spread(item.publication.offer));
    const limits = this.#limits();
    return [...packMessages(alone, { ...limits, maxOffers: 1 }), ...packMessages(together, limits)];
  }

  /** An operator may have set a smaller `max_payload`; 4 KiB are left for subject and headers. */
  #limits(): MessageLimits {
    const most = (this.#options.link.current?.connection.info?.max_payload ?? 1024 * 1024) - 4_096;
    const { maxOffers, maxBatchBytes, maxOfferBytes } = MESSAGE_LIMITS;
    return { maxOffers, maxBatchBytes: Math.min(maxBatchBytes, most), maxOfferBytes: Math.min(maxOfferBytes, most) };
  }

  async #deliver(subject: string, message: OutgoingMessage<Waiting>, headers: MsgHdrs | undefined): Promise<void> {
    let problem: unknown = null;
    try {
      await this.#send(subject, message.body, headers);
    } catch (error) {
      problem = error;
    }
    for (const { call } of message.carries) call.settle(problem);
  }

  async #send(subject: string, body: string, headers: MsgHdrs | undefined): Promise<void> {
    const { link } = this.#options;
    const options = { timeout: ACK_TIMEOUT_MS, ...(headers === undefined ? {} : { headers }) };
    try {
      if (link.current === null) throw new Error(link.complaint);
      await link.current.client.publish(subject, body, options);
    } catch (error) {
      if (link.current === null) throw new Error(link.complaint, { cause: error });
      // The broker is there but did not take it: the stream may be gone. Once more, after setting it up.
      if (isStreamBroken(error)) await deleteStream(link.current.manager, this.#options.names.stream);
      const isRepaired = await within(this.#options.clock, REPAIR_TIMEOUT_MS, link.repairAfterLoss());
      if (!isRepaired || link.current === null) throw new Error(link.complaint, { cause: error });
      await link.current.client.publish(subject, body, options);
    }
  }
}

/** Without telemetry one look at the first of what it carries. */
const headersOf = ({ carries }: OutgoingMessage<Waiting>): MsgHdrs | undefined =>
  carries[0]?.publication.offer.sentBy === undefined
    ? undefined
    : tracedHeaders(carries.map(({ publication }) => publication.offer));

const callOf = (count: number, resolve: () => void, reject: (error: unknown) => void): Call => {
  const call: Call = {
    left: count,
    settle: (error) => {
      call.left -= 1;
      if (error !== null) reject(error);
      else if (call.left === 0) resolve();
    },
  };
  return call;
};

const partition = <T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] => {
  const parts: [T[], T[]] = [[], []];
  for (const item of items) parts[isFirst(item) ? 0 : 1].push(item);
  return parts;
};
