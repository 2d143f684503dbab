import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Msg, NatsConnection, Subscription as NatsSubscription } from '@nats-io/transport-node';
import type { Bus, Offer, Publication, Reader, ReaderSubscription, Subscription } from './bus.ts';
import { addressOf } from './delivery.ts';
import { DirectDelivery } from './direct-delivery.ts';
import type { Feed } from './feed.ts';
import type { Ingest } from './ingest.ts';
import { JetStreamFeed } from './jetstream-feed.ts';
import { JetStreamIngest } from './jetstream-ingest.ts';
import { JetStreamLink, type Link, type LinkOptions } from './jetstream-link.ts';
import { JetStreamPublisher } from './jetstream-publisher.ts';
import { JetStreamReader } from './jetstream-reader.ts';
import {
  ACK_WAIT_MS,
  deleteStream,
  ensureStream,
  feedNamesIn,
  ingestNamesIn,
  isStreamBroken,
  type Names,
  namesIn,
} from './jetstream-topology.ts';
import { failureDelay } from './settlement.ts';
import { type Pointer, parseMessage } from './wire-message.ts';
import { within } from './within.ts';

export interface JetStreamBusOptions extends LinkOptions {
  /** Prefix of subjects and part of the stream's name; `fixpoint` in production, something unique in a test. */
  readonly namespace: string;
  /** Most bytes that each of its streams may take on disk; the oldest messages go first. The server reserves them. */
  readonly maxBytes: number;
  /** True for an event whose work is long: it gets a message of its own. */
  spread(offer: Offer): boolean;
  /**
   * For a process that runs all services: names of all readers of a type. A reader in this process gets what is published
   * here at once, without a message, as long as it has room.
   */
  readonly direct?: ((type: string) => readonly string[]) | null;
  /** Reads one event from the store, for a message that was too big to carry it. */
  load(at: Pointer): Promise<RecordedEvent>;
  /** Wait before an offer that failed `failures` times is delivered again. Default: 1 s, doubled, at most 30 s. */
  failureDelayMs?(failures: number): number;
  /** How long the server waits for a sign of life of what it has delivered. Default: 10 s. */
  readonly ackWaitMs?: number;
  /** How often somebody looks whether a quiet consumer still delivers. Default: 6 s. */
  readonly stallLookMs?: number;
}

/** A bus on NATS JetStream, server 2.9 or newer. It connects in the background, at start and after every loss. */
export interface JetStreamBus extends Bus {
  /** Resolves when the broker is set up. @throws after `timeoutMs` with the address and the reason; trying goes on. */
  ready(timeoutMs: number): Promise<void>;
  /** A writer of the feed, over the same connection. */
  feed(): Feed;
  /** What producers send, over the same connection. */
  ingest(): Ingest;
}

/**
 * Opens a bus; never fails. `publish` rejects, and readers wait, while the broker is out of reach.
 * The broker is set up from here: stream WORK and one durable pull consumer per reader, type and class.
 */
export const jetstreamBus = (options: JetStreamBusOptions): JetStreamBus => new NatsBus(options);

/** Two looks have to agree. */
const STALL_LOOK_MS = 6_000;

/** A subscription that is complete within this, or goes on in the background. */
const SUBSCRIBE_TIMEOUT_MS = 10_000;

interface Ear {
  readonly subjects: readonly string[];
  readonly onMessage: (message: Msg) => void;
  connection: NatsConnection | null;
  subscriptions: NatsSubscription[];
}

class NatsBus implements JetStreamBus {
  readonly #options: JetStreamBusOptions;
  readonly #names: Names;
  readonly #link: JetStreamLink;
  readonly #publisher: JetStreamPublisher;
  readonly #readers = new Set<JetStreamReader>();
  readonly #direct: DirectDelivery | null;
  readonly #ears = new Set<Ear>();
  readonly #watchers = new Set<() => void>();

  constructor(options: JetStreamBusOptions) {
    this.#options = options;
    this.#names = namesIn(options.namespace);
    this.#link = new JetStreamLink(options, {
      setUp: (link) => this.#setUp(link),
      onDown: () => {
        for (const reader of this.#readers) reader.detach();
      },
    });
    this.#publisher = new JetStreamPublisher({ ...options, link: this.#link, names: this.#names });
    const { direct = null } = options;
    this.#direct = direct === null ? null : new DirectDelivery(direct, () => this.#tellWatchers());
  }

  ready(timeoutMs: number): Promise<void> {
    return this.#link.ready(timeoutMs);
  }

  feed(): Feed {
    const { namespace, maxBytes } = this.#options;
    return new JetStreamFeed({ link: this.#link, names: feedNamesIn(namespace), maxBytes });
  }

  ingest(): Ingest {
    const { namespace, maxBytes, report } = this.#options;
    return new JetStreamIngest({ link: this.#link, names: ingestNamesIn(namespace), maxBytes, report });
  }

  publish(publications: readonly Publication[]): Promise<void> {
    const direct = this.#direct;
    if (direct === null) return this.#publisher.publish(publications);
    return this.#publisher.publish(publications.filter((publication) => !direct.deliver(publication)));
  }

  async subscribe(reader: Reader): Promise<ReaderSubscription> {
    const attached: JetStreamReader = new JetStreamReader({
      reader,
      names: this.#names,
      link: this.#options,
      ackWaitMs: this.#options.ackWaitMs ?? ACK_WAIT_MS,
      stallLookMs: this.#options.stallLookMs ?? STALL_LOOK_MS,
      failureDelayMs: this.#options.failureDelayMs ?? failureDelay,
      spread: this.#options.spread,
      load: this.#options.load,
      putBack: (offer, subject, headers) => this.#publisher.putBack(offer, subject, headers),
      onLost: (why) => {
        this.#options.report(`A consumer has to be set up again (${why})`, null);
        attached.detach();
        void this.#link.repairAfterLoss();
      },
    });
    this.#readers.add(attached);
    this.#direct?.add(reader, attached);
    await this.#settleIn();
    return {
      healthy: () => this.#isAttached(attached),
      backlog: () => attached.backlog(),
      drain: async (signal) => {
        this.#readers.delete(attached);
        this.#direct?.remove(reader, attached);
        await attached.drain(signal);
      },
    };
  }

  listen(types: readonly string[], onOffer: (offer: Offer) => void): Promise<Subscription> {
    const subjects = types.map((type) => this.#names.anyClass(type));
    return this.#addEar(subjects, (message) => void this.#tell(message, onOffer));
  }

  async watch(onPublished: () => void): Promise<Subscription> {
    const watcher = (): void => onPublished();
    const ear = await this.#addEar([this.#names.everything], watcher);
    this.#watchers.add(watcher);
    return {
      healthy: () => ear.healthy(),
      drain: async (signal) => {
        this.#watchers.delete(watcher);
        await ear.drain(signal);
      },
    };
  }

  healthy(): boolean {
    return this.#link.isUp;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#readers].map((reader) => reader.drain(AbortSignal.abort())));
    this.#readers.clear();
    this.#ears.clear();
    await this.#link.close();
  }

  #tellWatchers(): void {
    for (const watcher of this.#watchers) watcher();
  }

  async #setUp(link: Link): Promise<void> {
    try {
      await this.#setUpAll(link);
    } catch (error) {
      if (isStreamBroken(error)) await deleteStream(link.manager, this.#names.stream);
      throw error;
    }
  }

  async #setUpAll(link: Link): Promise<void> {
    await ensureStream(link.manager, this.#names, this.#options.maxBytes);
    for (const reader of this.#readers) {
      if (!reader.isAttached(link.connection)) await reader.attach(link);
    }
    for (const ear of this.#ears) attachEar(ear, link.connection);
    // A subscription is only in the socket's buffer until the server has answered something.
    await link.connection.flush();
  }

  #isAttached(reader: JetStreamReader): boolean {
    const link = this.#link.current;
    return link !== null && this.#readers.has(reader) && reader.isAttached(link.connection);
  }

  /** Waits for the set-up of what was just added, but not for ever: it goes on in the background. */
  async #settleIn(): Promise<void> {
    if (this.#link.current === null) await this.#link.ready(SUBSCRIBE_TIMEOUT_MS).catch(() => undefined);
    else await within(this.#options.clock, SUBSCRIBE_TIMEOUT_MS, this.#link.repair());
  }

  async #addEar(subjects: readonly string[], onMessage: (message: Msg) => void): Promise<Subscription> {
    const ear: Ear = { subjects, onMessage, connection: null, subscriptions: [] };
    this.#ears.add(ear);
    await this.#settleIn();
    return {
      healthy: () =>
        this.#ears.has(ear) && this.#link.current !== null && ear.connection === this.#link.current.connection,
      drain: async () => {
        this.#ears.delete(ear);
        for (const subscription of ear.subscriptions) subscription.unsubscribe();
      },
    };
  }

  async #tell(message: Msg, onOffer: (offer: Offer) => void): Promise<void> {
    // Put back for one reader: the ears heard it the first time.
    if (addressOf(message) !== null) return;
    const parsed = parseMessage(message.string());
    if (parsed.kind === 'malformed') return;
    if (parsed.kind === 'offers') {
      for (const offer of parsed.offers) onOffer(offer);
      return;
    }
    try {
      const nodeReady = parsed.nodeReady === null ? null : await this.#options.load(parsed.nodeReady);
      onOffer({ event: await this.#options.load(parsed.event), nodeReady });
    } catch (error) {
      this.#options.report(`${parsed.event.stream}@${parsed.event.version} could not be loaded`, error);
    }
  }
}

/** The client renews subscriptions after a reconnect; only a new connection needs new ones. */
const attachEar = (ear: Ear, connection: NatsConnection): void => {
  if (ear.connection === connection) return;
  ear.connection = connection;
  ear.subscriptions = ear.subjects.map((subject) =>
    connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) ear.onMessage(message);
      },
    }),
  );
};
