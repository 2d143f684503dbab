import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Offer, Publication, Reader, WorkClass } from './bus.ts';
import { ack, addressedTo, addressOf, nak, terminate, waitOf, withSender, working } from './delivery.ts';
import type { Link, LinkOptions } from './jetstream-link.ts';
import { durableName, ensureConsumers, type Names, WORK_CLASSES } from './jetstream-topology.ts';
import { Pull } from './pull.ts';
import type { Retry } from './settlement.ts';
import { watchForStall } from './stall-watch.ts';
import { type Pointer, parseMessage } from './wire-message.ts';
import { within } from './within.ts';
import { type HeldMessage, WorkBuffer } from './work-buffer.ts';
import { WorkLoop } from './work-loop.ts';

export interface ReaderOptions {
  readonly reader: Reader;
  readonly names: Names;
  readonly link: LinkOptions;
  readonly ackWaitMs: number;
  readonly stallLookMs: number;
  failureDelayMs(failures: number): number;
  /** True for an event whose work is long. */
  spread(offer: Offer): boolean;
  load(at: Pointer): Promise<RecordedEvent>;
  /** Publishes one offer again on the subject it came from; rejects when the broker did not take it. */
  putBack(offer: Offer, subject: string, headers: ReturnType<typeof addressedTo>): Promise<void>;
  /** Something of this reader's is missing on the broker. */
  onLost(why: string): void;
}

interface Lane {
  readonly pull: Pull;
  readonly connection: NatsConnection;
  endWatch(): void;
  /** Messages of its consumer that wait or were not acked. */
  unacked(): Promise<number>;
}

/** Most messages of one pull request; a message may hold 100 events. */
const MAX_REQUEST = 50;
/** Waiting offers above which a batch reader asks for no more. */
const BATCHES_AHEAD = 2;
/** Waiting offers above which none is taken directly: what a crash loses waits for the healer. */
const DIRECT_AHEAD = 5_000;
/** A message that finds no free slot is given back after this, for an instance that has one. */
const GIVE_BACK_MS = 200;
const FINISH_TIMEOUT_MS = 1_000;

/** One reader's consumers on the broker: asks for as much as there is room for, and keeps alive what it holds. */
export class JetStreamReader {
  readonly #options: ReaderOptions;
  readonly #buffer = new WorkBuffer();
  readonly #loop: WorkLoop;
  readonly #held = new Set<Msg>();
  readonly #puttingBack = new Set<Promise<void>>();
  /** Taken without a message and not settled. */
  readonly #direct = new Set<HeldMessage>();
  readonly #keepAlive: NodeJS.Timeout;
  #lanes: Lane[] = [];
  #draining = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      reader: options.reader,
      source: this.#buffer,
      clock: options.link.clock,
      report: options.link.report,
      failureDelayMs: options.failureDelayMs,
      onRoom: () => this.#ask(),
    });
    this.#keepAlive = setInterval(() => this.#sayWorking(), options.ackWaitMs / 4);
    this.#keepAlive.unref();
  }

  /** Creates what is missing on the broker and begins to pull. Called again after each loss; rejects when it did not work. */
  async attach(link: Link): Promise<void> {
    this.detach();
    const { reader, names, ackWaitMs } = this.#options;
    const consumers = reader.types.flatMap((type) =>
      WORK_CLASSES.map((workClass) => ({
        workClass,
        ackWaitMs,
        durable: durableName(reader.name, type, workClass),
        subject: names.subject(type, workClass),
      })),
    );
    await ensureConsumers(link.manager, names.stream, consumers);
    if (this.#draining) return;
    this.#lanes = consumers.map(({ durable, workClass }) => this.#lane(link, durable, workClass));
    this.#ask();
  }

  isAttached(connection: NatsConnection): boolean {
    return !this.#draining && this.#lanes.length > 0 && this.#lanes.every((lane) => lane.connection === connection);
  }

  /** Whether an offer of this process may wait here: long work only where a slot is free, or it would not spread. */
  hasRoomFor(offer: Offer, ahead: number): boolean {
    if (this.#draining || this.#buffer.size + ahead >= DIRECT_AHEAD) return false;
    return this.#options.reader.mode.kind === 'batch' || !this.#options.spread(offer) || this.#room() > ahead;
  }

  /** Takes what this very process published, without a message; what is not done with it goes to the broker. */
  take(publication: Publication): void {
    const held = this.#withoutMessage(publication);
    this.#direct.add(held);
    this.#buffer.push(held);
  }

  /** Of this process and all others; null when the broker does not answer. */
  async backlog(): Promise<number | null> {
    const lanes = this.#lanes;
    if (lanes.length === 0) return null;
    const counts = await Promise.allSettled(lanes.map(({ unacked }) => unacked()));
    const known = counts.flatMap((count) => (count.status === 'fulfilled' ? [count.value] : []));
    return known.length < lanes.length ? null : known.reduce((sum, count) => sum + count, this.#direct.size);
  }

  /** Nothing is pulled until the next `attach`. What is in hand goes on. */
  detach(): void {
    for (const { pull, endWatch } of this.#lanes) {
      endWatch();
      pull.stop();
    }
    this.#lanes = [];
  }

  /** What the server sends until it knows is given back: unanswered, it would rest for the whole ack wait. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#draining = true;
    const { clock } = this.#options.link;
    const drained = this.#loop.drain(signal);
    const finished = Promise.allSettled(this.#lanes.map(({ pull }) => pull.finish()));
    await within(clock, FINISH_TIMEOUT_MS, finished);
    for (const held of this.#buffer.take(Number.POSITIVE_INFINITY)) held.nak(GIVE_BACK_MS);
    this.detach();
    await drained;
    await within(clock, FINISH_TIMEOUT_MS, Promise.all(this.#puttingBack));
    clearInterval(this.#keepAlive);
  }

  #lane({ connection, manager }: Link, durable: string, workClass: WorkClass): Lane {
    const { stream } = this.#options.names;
    const lookEveryMs = this.#options.stallLookMs;
    const onLost = (why: string): void => this.#options.onLost(`${durable}: ${why}`);
    const pull = new Pull({
      connection,
      stream,
      durable,
      onMessage: (message) => void this.#receive(message, workClass),
      onDone: () => this.#ask(),
      onLost,
    });
    const onStalled = (): void => onLost('it delivered nothing although messages waited');
    const unacked = async (): Promise<number> => {
      const { num_pending: waiting, num_ack_pending: delivered } = await manager.consumers.info(stream, durable);
      return waiting + delivered;
    };
    return {
      pull,
      connection,
      unacked,
      endWatch: watchForStall({ pull, manager, stream, durable, lookEveryMs, onStalled }),
    };
  }

  /** Spreads the room over the lanes, so that what comes in finds a place. */
  #ask(): void {
    const room = this.#room();
    if (this.#draining || room <= 0) return;
    const share = Math.min(MAX_REQUEST, Math.max(1, Math.floor(room / this.#lanes.length)));
    for (const { pull } of this.#lanes) pull.request(share);
  }

  #room(): number {
    const { mode } = this.#options.reader;
    if (mode.kind === 'batch') return BATCHES_AHEAD * this.#loop.room - this.#buffer.size;
    return this.#loop.room - this.#buffer.size;
  }

  async #receive(message: Msg, workClass: WorkClass): Promise<void> {
    const address = addressOf(message);
    if (address !== null && address.reader !== this.#options.reader.name) return ack(message);
    const waitMs = address === null ? 0 : waitOf(address, this.#options.link.clock.now().getTime());
    if (waitMs > 0) return nak(message, waitMs);
    if (this.#draining) return nak(message, GIVE_BACK_MS);
    this.#held.add(message);
    const offers = await this.#offersOf(message);
    if (offers === null) return;
    const held = this.#hold(message, {
      offers: withSender(message, offers),
      workClass,
      failures: address?.failures ?? 0,
    });
    this.#buffer.push(held);
    if (this.#options.reader.mode.kind === 'pool') this.#giveBackUnlessTaken(held);
  }

  async #offersOf(message: Msg): Promise<readonly Offer[] | null> {
    const parsed = parseMessage(message.string());
    if (parsed.kind === 'offers') return parsed.offers;
    if (parsed.kind === 'malformed') {
      this.#options.link.report(`A message on ${message.subject} cannot be read`, new Error(parsed.problem));
      this.#letGo(message, () => terminate(message, parsed.problem));
      return null;
    }
    try {
      const nodeReady = parsed.nodeReady === null ? null : await this.#options.load(parsed.nodeReady);
      return [{ event: await this.#options.load(parsed.event), nodeReady }];
    } catch (error) {
      this.#options.link.report(`${parsed.event.stream}@${parsed.event.version} could not be loaded`, error);
      this.#letGo(message, () => nak(message, this.#options.failureDelayMs(1)));
      return null;
    }
  }

  #hold(message: Msg, rest: Pick<HeldMessage, 'offers' | 'workClass' | 'failures'>): HeldMessage {
    const { reader, link, putBack } = this.#options;
    return {
      ...rest,
      ack: () => this.#letGo(message, () => ack(message)),
      nak: (delayMs) => this.#letGo(message, () => nak(message, delayMs)),
      retry: (retry: Retry) =>
        putBack(retry.offer, message.subject, addressedTo(reader.name, retry, link.clock.now().getTime())),
    };
  }

  #withoutMessage({ offer, workClass }: Publication): HeldMessage {
    const { reader, names, link, putBack } = this.#options;
    const subject = names.subject(offer.event.type, workClass);
    const retry = (again: Retry): Promise<void> =>
      putBack(again.offer, subject, addressedTo(reader.name, again, link.clock.now().getTime()));
    const nak = (delayMs: number): void => {
      const sent = retry({ offer, failures: 0, delayMs })
        .catch((error: unknown) => link.report(`${offer.event.type} ${offer.event.id} was not put back`, error))
        .finally(() => this.#puttingBack.delete(sent));
      this.#puttingBack.add(sent);
      this.#direct.delete(held);
    };
    const letGo = (): void => {
      this.#direct.delete(held);
      this.#ask();
    };
    const held: HeldMessage = { offers: [offer], workClass, failures: 0, ack: letGo, nak, retry };
    return held;
  }

  /** The last word on a message. Lost with the connection, it is said by the ack wait. */
  #letGo(message: Msg, say: () => void): void {
    this.#held.delete(message);
    try {
      say();
    } catch (error) {
      this.#options.link.report(`An answer to ${message.subject} did not go out; the message will come again`, error);
    }
    this.#ask();
  }

  #giveBackUnlessTaken(held: HeldMessage): void {
    setTimeout(() => {
      if (this.#buffer.remove(held)) held.nak(GIVE_BACK_MS);
    }, GIVE_BACK_MS).unref();
  }

  #sayWorking(): void {
    try {
      for (const message of this.#held) working(message);
    } catch (error) {
      this.#options.link.report('Signs of life did not go out', error);
    }
  }
}
