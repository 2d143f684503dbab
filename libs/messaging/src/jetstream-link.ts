import type { Clock } from '@fixpoint/contracts/clock';
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { natsAddress } from './nats-address.ts';
import { within } from './within.ts';
import type { Report } from './work-loop.ts';

/** A live connection and its JetStream clients. */
export interface Link {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
}

export interface LinkOptions {
  /** `nats://host:port`, or several, separated by commas. */
  readonly url: string;
  /** Shown in the server's connection list. */
  readonly name: string;
  readonly clock: Clock;
  readonly report: Report;
}

/** What a link does for its bus. */
export interface LinkDuties {
  /** Sets up what the broker must have. Called after each connect and each loss, until it succeeds; idempotent. */
  setUp(link: Link): Promise<void>;
  /** The broker is out of reach. */
  onDown(): void;
}

const CONNECT_TIMEOUT_MS = 3_000;
const API_TIMEOUT_MS = 3_000;
const LOSS_PAUSE_MS = 750;
const LONGEST_RETRY_MS = 2_000;
const REPEAT_REPORT_MS = 30_000;

/**
 * Keeps one connection to NATS: tries for ever in the background, sets up the broker after each (re)connect.
 * Reports an outage once, then every 30 s.
 */
export class JetStreamLink {
  readonly #options: LinkOptions;
  readonly #duties: LinkDuties;
  readonly #closed = new AbortController();
  readonly #finished: Promise<void>;
  #link: Link | null = null;
  #isSetUp = false;
  #problem = 'no answer yet';
  #reportedAt = Number.NEGATIVE_INFINITY;
  #waiters: (() => void)[] = [];
  #repairing: Promise<void> = Promise.resolve();
  #queued: Promise<void> | null = null;

  constructor(options: LinkOptions, duties: LinkDuties) {
    this.#options = options;
    this.#duties = duties;
    this.#finished = this.#stayConnected();
  }

  /** Null while the broker is out of reach. */
  get current(): Link | null {
    return this.#link;
  }

  get isUp(): boolean {
    return this.#link !== null && this.#isSetUp;
  }

  /** A sentence for a person: which server, and what is wrong with it. */
  get complaint(): string {
    return `NATS at ${address(this.#options.url)} cannot be used: ${this.#problem}`;
  }

  /** @throws with `complaint` when the broker is not ready in time; trying goes on. */
  async ready(timeoutMs: number): Promise<void> {
    if (this.isUp) return;
    const up = new Promise<void>((resolve) => this.#waiters.push(resolve));
    if (!(await within(this.#options.clock, timeoutMs, up))) throw new Error(this.complaint);
  }

  /** Sets up the broker again; resolves when that is done or the broker is out of reach. Calls in a row join. */
  repair(): Promise<void> {
    this.#queued ??= this.#repairing.then(() => {
      this.#queued = null;
      this.#repairing = this.#setUpUntilDone();
      return this.#repairing;
    });
    return this.#queued;
  }

  /**
   * Sets up the broker again after a loss, a moment later: server 2.9 tells consumers that they are gone before it has
   * deleted their stream's files, and a stream that is created again in between stays broken.
   */
  async repairAfterLoss(): Promise<void> {
    await this.#options.clock.sleep(LOSS_PAUSE_MS, this.#closed.signal);
    await this.repair();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#problem = 'the bus was closed';
    const connection = this.#link?.connection;
    this.#link = null;
    // Acks are still in the socket's buffer: a server that is gone must not hold us up, though.
    if (connection !== undefined)
      await within(
        this.#options.clock,
        1_000,
        connection.flush().catch(() => undefined),
      );
    await connection?.close();
    await this.#finished;
  }

  async #stayConnected(): Promise<void> {
    for (let attempt = 0; !this.#closed.signal.aborted; attempt += 1) {
      try {
        await this.#follow(await this.#connect());
      } catch (error) {
        this.#complain(error);
      }
      await this.#options.clock.sleep(retryDelay(attempt), this.#closed.signal);
    }
  }

  async #connect(): Promise<NatsConnection> {
    return connect({
      ...natsAddress(this.#options.url),
      name: this.#options.name,
      timeout: CONNECT_TIMEOUT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 10_000,
      maxPingOut: 2,
      ignoreAuthErrorAbort: true,
      // An error object per request costs more than the request.
      noAsyncTraces: true,
    });
  }

  /** Lives as long as the connection does, reconnects included. */
  async #follow(connection: NatsConnection): Promise<void> {
    const status = connection.status();
    await this.#up(connection);
    for await (const { type } of status) {
      if (type === 'disconnect') this.#down('the connection was lost');
      if (type === 'reconnect') await this.#up(connection);
    }
    this.#down('the connection was closed');
  }

  async #up(connection: NatsConnection): Promise<void> {
    if (this.#closed.signal.aborted) return connection.close();
    const options = { timeout: API_TIMEOUT_MS };
    // `checkAPI` would fail here while the server is still starting JetStream; `setUp` finds that out and waits.
    const manager = await jetstreamManager(connection, { ...options, checkAPI: false });
    this.#link = { connection, client: jetstream(connection, options), manager };
    void this.repair();
  }

  #down(problem: string): void {
    if (this.#closed.signal.aborted || this.#link === null) return;
    this.#link = null;
    this.#isSetUp = false;
    this.#complain(new Error(problem));
    this.#duties.onDown();
  }

  async #setUpUntilDone(): Promise<void> {
    for (let attempt = 0; this.#link !== null; attempt += 1) {
      const link = this.#link;
      try {
        await this.#duties.setUp(link);
        if (link !== this.#link) continue;
        this.#succeeded();
        return;
      } catch (error) {
        this.#complain(error);
        await this.#options.clock.sleep(retryDelay(attempt), this.#closed.signal);
      }
    }
  }

  #succeeded(): void {
    this.#isSetUp = true;
    this.#problem = 'it did not answer in time';
    this.#reportedAt = Number.NEGATIVE_INFINITY;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter();
  }

  #complain(error: unknown): void {
    if (this.#closed.signal.aborted) return;
    this.#problem = error instanceof Error ? error.message : String(error);
    const now = this.#options.clock.monotonicMs();
    if (now - this.#reportedAt < REPEAT_REPORT_MS) return;
    this.#reportedAt = now;
    this.#options.report(this.complaint, error);
  }
}

const retryDelay = (attempt: number): number =>
  Math.min(LONGEST_RETRY_MS, 100 * 2 ** attempt) * (1 + Math.random() * 0.2);

/** Without the password that the URL may hold. */
const address = (url: string): string =>
  url
    .split(',')
    .map((one) => {
      const parsed = URL.parse(one);
      return parsed === null ? one : `${parsed.protocol}//${parsed.host}`;
    })
    .join(', ');
