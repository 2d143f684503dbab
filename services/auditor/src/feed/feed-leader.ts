import type { Clock } from '@fixpoint/contracts/clock';
import { CURSOR_START, type Cursor, compareCursors } from '@fixpoint/contracts/envelope';
import type { HeldCheckpoint } from '@fixpoint/event-store/checkpoint';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { type Feed, type FeedEnd, FeedMoved } from '@fixpoint/messaging/feed';
import type { LoopStep } from '@fixpoint/runtime/loop';
import type { FeedCheckpoint } from './feed-checkpoint.ts';

export interface FeedLeaderOptions {
  readonly store: Pick<EventStore, 'readAll' | 'readStream'>;
  /** Resolves when there may be news. */
  readonly changed: EventStore['changed'];
  readonly feed: Feed;
  readonly checkpoint: FeedCheckpoint;
  readonly clock: Clock;
  /** Events per page; default 500. */
  readonly pageSize?: number;
  /** Longest wait for news; default 200 ms. */
  readonly pollMs?: number;
}

interface Leadership extends HeldCheckpoint {
  /** By this process' monotonic clock. */
  readonly renewedAt: number;
}

/** A claim this old, as a share of its life, is renewed before anything is written under it. */
const RENEW_AFTER = 1 / 3;
/** News are gathered for so long, so that pages become bigger instead of more. */
const GATHER_MS = 75;

/**
 * Writes the feed from the log. Of several processes the one that holds the checkpoint does; the others stand by. The
 * checkpoint moves after the broker has taken a page, so what is not certain is looked up on the broker: the feed itself
 * says how far it got. See docs/feed.md for what a subscriber may rely on.
 */
export class FeedLeader {
  readonly #options: FeedLeaderOptions;
  readonly #pageSize: number;
  readonly #pollMs: number;
  #lead: Leadership | null = null;
  /** Of the latest claim, also when what it was for has failed. */
  #fence: string | null = null;
  /** The next page is written with care: the last one was refused. */
  #isCareful = false;

  constructor(options: FeedLeaderOptions) {
    this.#options = options;
    this.#pageSize = options.pageSize ?? 500;
    this.#pollMs = options.pollMs ?? 200;
  }

  /** Writes one page, or waits for news. For a loop. @throws when store or broker is out of reach; the next step tries again */
  async step(signal: AbortSignal): Promise<void> {
    const written = await this.#advance();
    const { changed, clock } = this.#options;
    if (written === 0) await changed(this.#pollMs, signal);
    if (written < this.#pageSize) await clock.sleep(GATHER_MS, signal);
  }

  /** Lets another process go on at once. */
  async release(): Promise<void> {
    const fence = this.#fence;
    this.#lead = null;
    this.#fence = null;
    if (fence !== null) await this.#options.checkpoint.release(fence);
  }

  /** @returns how many events were written. */
  async #advance(): Promise<number> {
    const lead = await this.#leadership();
    if (lead === null) return 0;
    const { store, feed, checkpoint, clock } = this.#options;
    const { events, next } = await store.readAll(lead.cursor, this.#pageSize);
    if (events.length === 0) return 0;
    // What a failure leaves behind is not known: the claim is made anew, and the broker asked where it stands.
    this.#lead = null;
    const renewedAt = clock.monotonicMs();
    try {
      await feed.append(events, this.#isCareful ? 'one_by_one' : 'together');
    } catch (error) {
      if (!(error instanceof FeedMoved)) throw error;
      this.#isCareful = true;
      return 0;
    }
    this.#isCareful = false;
    if (await checkpoint.move(lead.fence, next)) this.#lead = { fence: lead.fence, cursor: next, renewedAt };
    return events.length;
  }

  /** Null when another process leads. */
  async #leadership(): Promise<Leadership | null> {
    const { feed, checkpoint, clock } = this.#options;
    const isFresh = (at: number): boolean => clock.monotonicMs() - at < checkpoint.leaseMs * RENEW_AFTER;
    if (this.#lead !== null && feed.isOpen() && isFresh(this.#lead.renewedAt)) return this.#lead;
    const known = feed.isOpen() ? this.#lead : null;
    this.#lead = null;
    const renewedAt = clock.monotonicMs();
    const held = await checkpoint.claim();
    this.#fence = held?.fence ?? null;
    if (held === null) return null;
    const cursor = known?.cursor ?? (await this.#whereToGoOn(held));
    this.#lead = { fence: held.fence, cursor, renewedAt };
    return this.#lead;
  }

  async #whereToGoOn({ cursor }: HeldCheckpoint): Promise<Cursor> {
    const { feed, checkpoint } = this.#options;
    try {
      const end = await feed.open();
      if (end.end === 'event' && (await this.#isStored(end))) return end.cursor;
      const isFirst = compareCursors(cursor, CURSOR_START) === 0;
      if (!isFirst && end.end !== 'new') return cursor;
      const beginning = await checkpoint.beginning();
      return isFirst ? beginning : earlier(beginning, cursor);
    } catch (error) {
      // Perhaps another process reaches the broker.
      await this.release();
      throw error;
    }
  }

  /** A feed that was written from another log, or from what a restored one has lost, says nothing about this one. */
  async #isStored({ id, stream, version, cursor }: Extract<FeedEnd, { end: 'event' }>): Promise<boolean> {
    const [event] = await this.#options.store.readStream(stream, version);
    return event !== undefined && event.id === id && compareCursors(event.cursor, cursor) === 0;
  }
}

/** One round of writing the feed, for a loop. */
export const writeFeed = (options: FeedLeaderOptions): LoopStep => {
  const leader = new FeedLeader(options);
  return async (signal) => {
    try {
      await leader.step(signal);
    } finally {
      if (signal.aborted) await leader.release();
    }
  };
};

const earlier = (a: Cursor, b: Cursor): Cursor => (compareCursors(a, b) < 0 ? a : b);
