import type { Cursor, RecordedEvent } from '@fixpoint/contracts/envelope';

/** What stands at the end of the feed. */
export type FeedEnd =
  /** Nothing was ever written to it: it has just been made, or was lost. */
  | { readonly end: 'new' }
  /** What was written to it is not there any more (its time is over), or its last message is not ours. */
  | { readonly end: 'unknown' }
  | {
      readonly end: 'event';
      readonly id: string;
      readonly stream: string;
      readonly version: number;
      readonly cursor: Cursor;
    };

/** Somebody else has written to the feed, or it was lost, since it was opened: nothing is certain until it is opened again. */
export class FeedMoved extends Error {
  override readonly name = 'FeedMoved';
}

/**
 * The feed: every event for everyone else, in the order of the store. Whoever writes it opens it first; the broker then
 * takes an event only right behind the one that the writer knows as the last, so of several writers the one that is behind
 * writes nothing. The memory and the JetStream adapter pass `feed.contract.ts`.
 */
export interface Feed {
  /** Sets the broker up. @returns what stands at the end. @throws when the broker is out of reach. */
  open(): Promise<FeedEnd>;
  /** False before `open`, after a failed `append`, and once the broker was away. */
  isOpen(): boolean;
  /**
   * Writes events behind the last one, in this order, each under its own id.
   * @param pace `together`: all or, when it throws, some of the first; `one_by_one`: what the broker knows already is passed over.
   * @throws {FeedMoved} when it must be opened again; other errors when the broker is out of reach.
   */
  append(events: readonly RecordedEvent[], pace: 'together' | 'one_by_one'): Promise<void>;
}
