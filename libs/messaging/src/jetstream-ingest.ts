import { DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import type { HandleIngested, Ingest, IngestMessage } from './ingest.ts';
import type { JetStreamLink, Link } from './jetstream-link.ts';
import { deleteStream, ensureConsumers, ensureStream, type IngestNames, isStreamBroken } from './jetstream-topology.ts';

export interface JetStreamIngestOptions {
  readonly link: JetStreamLink;
  readonly names: IngestNames;
  /** Most bytes that the stream may take on disk; the oldest messages go first. */
  readonly maxBytes: number;
  /** Told of what comes again because handling it threw. */
  readonly report: (what: string, cause: unknown) => void;
}

const ACK_WAIT_MS = 30_000;
const AT_ONCE = 32;
const WAIT_MS = 5_000;
const AGAIN_MS = 2_000;

/** What producers publish, on JetStream: one durable consumer that all replicas share, from the first message on. */
export class JetStreamIngest implements Ingest {
  readonly #options: JetStreamIngestOptions;
  #setUpFor: Link | null = null;

  constructor(options: JetStreamIngestOptions) {
    this.#options = options;
  }

  async take(handle: HandleIngested, signal: AbortSignal): Promise<void> {
    const { link, names } = this.#options;
    const current = link.current;
    if (current === null) throw new Error(link.complaint);
    try {
      if (this.#setUpFor !== current) await this.#setUp(current);
      await this.#round(current, handle, signal);
    } catch (error) {
      // Whatever was lost on the broker is made again with the next round.
      this.#setUpFor = null;
      if (isStreamBroken(error)) await deleteStream(current.manager, names.stream);
      throw error;
    }
  }

  async #round(link: Link, handle: HandleIngested, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { names } = this.#options;
    const consumer = await link.client.consumers.get(names.stream, names.durable);
    const messages = await consumer.fetch({ max_messages: AT_ONCE, expires: WAIT_MS });
    const stop = (): void => void messages.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) stop();
      const settled: Promise<void>[] = [];
      for await (const message of messages) settled.push(this.#settle(message, handle));
      await Promise.all(settled);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #setUp(link: Link): Promise<void> {
    const { names, maxBytes } = this.#options;
    await ensureStream(link.manager, names, maxBytes);
    const consumer = { durable: names.durable, subject: names.everything, ackWaitMs: ACK_WAIT_MS };
    await ensureConsumers(link.manager, names.stream, [{ ...consumer, from: DeliverPolicy.All }]);
    this.#setUpFor = link;
  }

  async #settle(message: JsMsg, handle: HandleIngested): Promise<void> {
    const verdict = await handle(messageOf(message)).catch((cause: unknown) => {
      this.#options.report(`${message.subject}: will be tried again`, cause);
      return 'later' as const;
    });
    if (verdict === 'done') message.ack();
    else message.nak(AGAIN_MS);
  }
}

const messageOf = (message: JsMsg): IngestMessage => ({
  project: message.subject.split('.').at(-1) ?? '',
  headers: Object.fromEntries([...(message.headers ?? [])].map(([name, [value = '']]) => [name.toLowerCase(), value])),
  body: message.string(),
  sequence: message.seq,
  sentAt: new Date(message.info.timestampNanos / 1_000_000).toISOString(),
});
