import type { Cursor, NewEvent, RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Watermark } from './watermark.ts';

/** One decision: all events of one command for one stream, stored together or not at all. */
export interface Append {
  readonly stream: string;
  /** Root of the lineage (decides the shard); the stream's own name outside a lineage. */
  readonly root: string;
  /** The version the caller decided on; 0 for a new stream. Mandatory. */
  readonly expectedVersion: number;
  /** At least one. */
  readonly events: readonly NewEvent[];
}

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly events: readonly RecordedEvent[] }
  /** Another writer was first (or the caller is ahead of the stream): read again and decide anew. Nothing of this append stays. */
  | { readonly outcome: 'conflict' }
  /** The store refused this append whatever its version: a bug (second decision for one cause), a refused type, an event over 64 KiB. Never retried. */
  | { readonly outcome: 'rejected'; readonly code: AppendRejection; readonly detail: string };

export type AppendRejection = 'duplicate_event_id' | 'type_not_allowed' | 'event_too_large' | 'not_storable';

export interface Page {
  /** In cursor order, nothing skipped: an event below the page's end that becomes visible later cannot exist. */
  readonly events: readonly RecordedEvent[];
  /** Where to go on; equals the argument when the page is empty. */
  readonly next: Cursor;
}

/**
 * The append-only store. The memory and the Postgres adapter pass `event-store.contract.ts`.
 * Faults (lost connection, time-out) are thrown as ordinary errors and say nothing about whether the append happened.
 */
export interface EventStore {
  /** Joins the next group commit of this process. */
  append(append: Append): Promise<AppendOutcome>;
  /** As many appends to different streams in one statement where possible; one outcome each, in the order given. */
  appendAll(appends: readonly Append[]): Promise<readonly AppendOutcome[]>;
  /**
   * Events of a stream in version order, from `fromVersion` (1-based, default 1) to `toVersion` (default: its end), both
   * inclusive. Empty when there are none.
   */
  readStream(stream: string, fromVersion?: number, toVersion?: number): Promise<readonly RecordedEvent[]>;
  /** Same for many streams at once, from their first event; a stream without events maps to an empty list. */
  readStreams(streams: readonly string[], toVersion?: number): Promise<ReadonlyMap<string, readonly RecordedEvent[]>>;
  /** The event of this id, or null. */
  find(id: string): Promise<RecordedEvent | null>;
  /** Everything after the cursor that is below the watermark, at most `limit` events and about 4 MiB. */
  readAll(after: Cursor, limit: number): Promise<Page>;
  watermark(): Promise<Watermark>;
  /** Resolves when something may have been appended by this process or `timeoutMs` passed; a hint, never a fact. */
  changed(timeoutMs: number, signal: AbortSignal): Promise<void>;
}
