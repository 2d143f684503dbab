import { createInbox, type Msg, type NatsConnection, nanos, type Subscription } from '@nats-io/transport-node';

export interface PullOptions {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly durable: string;
  onMessage(message: Msg): void;
  /** The request is used up; `wanted` may be asked for anew. */
  onDone(): void;
  /** The server does not know the consumer, or has gone quiet: it has to be set up again. */
  onLost(why: string): void;
}

const EXPIRES_MS = 30_000;
const HEARTBEAT_MS = 1_500;
/** Silence that is longer than this while a request is open means that the request is gone. */
const SILENCE_MS = 4_000;

/** Answers that end a request in the ordinary way: nothing there (404), expired (408), no longer served here (409). */
const ORDINARY_ENDS = new Set([404, 408]);

/**
 * Pull requests of one consumer, one open at a time, exactly as big as asked.
 * The library's own `consume()` keeps asking while nobody takes what came, so a busy process would collect work that an
 * idle one could do, and lets it time out unworked.
 */
export class Pull {
  readonly #options: PullOptions;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #watch: NodeJS.Timeout;
  #open = 0;
  #heardAt = 0;
  #received = 0;

  constructor(options: PullOptions) {
    this.#options = options;
    this.#inbox = createInbox();
    this.#subscription = options.connection.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error === null) this.#onReply(message);
        else this.#end(() => options.onLost(error.message));
      },
    });
    this.#watch = setInterval(() => this.#lookAtSilence(), HEARTBEAT_MS);
    this.#watch.unref();
  }

  /** True while a request is open. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  /** Messages so far. */
  get received(): number {
    return this.#received;
  }

  /** Asks for up to `count` messages; does nothing while a request is open. */
  request(count: number): void {
    if (this.isOpen || count < 1) return;
    this.#open = count;
    this.#heardAt = performance.now();
    const body = JSON.stringify({ batch: count, expires: nanos(EXPIRES_MS), idle_heartbeat: nanos(HEARTBEAT_MS) });
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.#options.stream}.${this.#options.durable}`;
    this.#options.connection.publish(subject, body, { reply: this.#inbox });
  }

  stop(): void {
    clearInterval(this.#watch);
    this.#open = 0;
    this.#subscription.unsubscribe();
  }

  /** Stops, and resolves when everything that the server had sent until then has been passed to `onMessage`. */
  async finish(): Promise<void> {
    clearInterval(this.#watch);
    this.#open = 0;
    await this.#subscription.drain();
  }

  #onReply(message: Msg): void {
    this.#heardAt = performance.now();
    if (message.subject !== this.#inbox) {
      this.#open = Math.max(0, this.#open - 1);
      this.#received += 1;
      this.#options.onMessage(message);
      if (!this.isOpen) this.#options.onDone();
      return;
    }
    const code = message.headers?.code ?? 0;
    if (code === 100) return;
    if (ORDINARY_ENDS.has(code)) this.#end(() => this.#options.onDone());
    else this.#end(() => this.#options.onLost(`${code} ${message.headers?.description ?? ''}`.trim()));
  }

  #end(then: () => void): void {
    this.#open = 0;
    then();
  }

  #lookAtSilence(): void {
    if (!this.isOpen || performance.now() - this.#heardAt < SILENCE_MS) return;
    this.#end(() => this.#options.onLost('no heartbeat'));
  }
}
