import { cloudEventOf } from '@fixpoint/contracts/cloud-event';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { parseCursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { JetStreamApiError } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import { type Feed, type FeedEnd, FeedMoved } from './feed.ts';
import type { JetStreamLink, Link } from './jetstream-link.ts';
import { deleteStream, ensureStream, type FeedNames, isStreamBroken } from './jetstream-topology.ts';

export interface JetStreamFeedOptions {
  readonly link: JetStreamLink;
  readonly names: FeedNames;
  /** Most bytes that the stream may take on disk; the oldest messages go first. */
  readonly maxBytes: number;
}

const ACK_TIMEOUT_MS = 5_000;
const WRONG_LAST_SEQUENCE = 10_071;

interface Opened {
  readonly link: Link;
  /** Number of the last message of the stream. */
  readonly last: number;
}

/**
 * The feed on JetStream. Each message names the number that the one before it must have. So the order is kept although
 * messages are not awaited one by one, the last acknowledgement of a page speaks for the whole page, and a writer that was
 * overtaken is refused by the broker itself.
 */
export class JetStreamFeed implements Feed {
  readonly #options: JetStreamFeedOptions;
  #opened: Opened | null = null;

  constructor(options: JetStreamFeedOptions) {
    this.#options = options;
  }

  async open(): Promise<FeedEnd> {
    const { link, names, maxBytes } = this.#options;
    const current = link.current;
    if (current === null) throw new Error(link.complaint);
    try {
      await ensureStream(current.manager, names, maxBytes);
      const { state } = await current.manager.streams.info(names.stream);
      this.#opened = { link: current, last: state.last_seq };
      if (state.last_seq === 0) return { end: 'new' };
      return state.messages === 0 ? { end: 'unknown' } : await this.#endOf(current);
    } catch (error) {
      this.#opened = null;
      if (isStreamBroken(error)) await deleteStream(current.manager, names.stream);
      throw error;
    }
  }

  isOpen(): boolean {
    return this.#opened !== null && this.#opened.link === this.#options.link.current;
  }

  async append(events: readonly RecordedEvent[], pace: 'together' | 'one_by_one'): Promise<void> {
    if (events.length === 0) return;
    const opened = this.#opened;
    if (opened === null || !this.isOpen()) throw new FeedMoved('The feed is not open');
    // Until the broker has said how far it got, nothing is known.
    this.#opened = null;
    try {
      const last = pace === 'together' ? await this.#together(opened, events) : await this.#oneByOne(opened, events);
      this.#opened = { link: opened.link, last };
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== WRONG_LAST_SEQUENCE) throw error;
      throw new FeedMoved('The feed does not end where it did', { cause: error });
    }
  }

  /** Nothing but the last message is acknowledged: it is only taken behind all the others. */
  async #together({ link, last }: Opened, events: readonly RecordedEvent[]): Promise<number> {
    const { connection, client } = link;
    for (const [index, event] of events.slice(0, -1).entries()) {
      const { subject, body, headers } = this.#message(event, last + index);
      connection.publish(subject, body, { headers });
    }
    const [event] = events.slice(-1);
    if (event === undefined) return last;
    const { subject, body, headers } = this.#message(event, last + events.length - 1);
    const ack = await client.publish(subject, body, { headers, timeout: ACK_TIMEOUT_MS });
    if (ack.duplicate || ack.seq !== last + events.length) throw new FeedMoved('The feed has one of these already');
    return ack.seq;
  }

  /** The server passes over an id that it has seen lately, without taking the message: it is there. */
  async #oneByOne({ link, last }: Opened, events: readonly RecordedEvent[]): Promise<number> {
    let reached = last;
    for (const event of events) {
      const { subject, body, headers } = this.#message(event, reached);
      const ack = await link.client.publish(subject, body, { headers, timeout: ACK_TIMEOUT_MS });
      if (!ack.duplicate) reached = ack.seq;
    }
    return reached;
  }

  #message(event: RecordedEvent, behind: number): { subject: string; body: string; headers: MsgHdrs } {
    const { names } = this.#options;
    const { body, headers: attributes } = cloudEventOf(event, names.source);
    const to = headers();
    for (const [name, value] of Object.entries(attributes)) to.set(name, value);
    to.set('Nats-Msg-Id', event.id);
    to.set('Nats-Expected-Last-Sequence', String(behind));
    return { subject: names.subject(event.type), body, headers: to };
  }

  async #endOf({ manager }: Link): Promise<FeedEnd> {
    const { stream, everything } = this.#options.names;
    const message = await manager.streams.getMessage(stream, { last_by_subj: everything });
    const attribute = (name: string): string => message?.header?.get(`ce-${name}`) ?? '';
    const cursor = parseCursorToken(attribute('cursor'));
    if (cursor === null) return { end: 'unknown' };
    const version = Number(attribute('streamversion'));
    return { end: 'event', id: attribute('id'), stream: decodeURIComponent(attribute('subject')), version, cursor };
  }
}
