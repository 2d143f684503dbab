import { z } from 'zod';

/** One place in the store's total order. Compared as (epoch, xid, position); all three are decimal strings (int8 / xid8). */
export const cursorSchema = z.object({
  epoch: z.number().int().nonnegative(),
  xid: z.string().regex(/^\d+$/),
  position: z.string().regex(/^\d+$/),
});
export type Cursor = z.infer<typeof cursorSchema>;

/** Before the first event of a store. */
export const CURSOR_START: Cursor = { epoch: 0, xid: '0', position: '0' };

/** Total order of cursors: negative when `a` comes first, 0 when equal. */
export const compareCursors = (a: Cursor, b: Cursor): number => {
  if (a.epoch !== b.epoch) return a.epoch - b.epoch;
  if (a.xid !== b.xid) return BigInt(a.xid) < BigInt(b.xid) ? -1 : 1;
  if (a.position !== b.position) return BigInt(a.position) < BigInt(b.position) ? -1 : 1;
  return 0;
};

/** Who caused an event, and on whose behalf (INV2: no event without its cause). */
export const metadataSchema = z.object({
  /** Id of the event, timer, sweep or idempotency key that caused this one. */
  causation_id: z.string().min(1),
  /** The root of the lineage, or the stream for events outside a lineage. */
  correlation_id: z.string().min(1),
  /** `<service>__<reader>` or `<service>__<entry>` that decided. */
  producer: z.string().min(1),
  /** Name of the API key, `local` without keys, or `system`. */
  actor: z.string().min(1),
  /** W3C traceparent, when tracing is on. */
  traceparent: z.string().optional(),
});
export type EventMetadata = z.infer<typeof metadataSchema>;

/** An event that is about to be appended. `id` is a uuidv8 derived from its cause (see `event-id.ts` of the event store). */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly schema_version: number;
  readonly data: unknown;
  readonly metadata: EventMetadata;
  /** ISO 8601, UTC, ms: the deciding process' clock. */
  readonly occurred_at: string;
}

/** An event as the store returns it and as a message carries it: one shape, snake_case, everywhere. */
export interface RecordedEvent extends NewEvent {
  /** Root of the lineage the stream belongs to; the stream's own name for streams outside a lineage. */
  readonly root: string;
  readonly stream: string;
  /** 1-based, gapless per stream. */
  readonly version: number;
  readonly cursor: Cursor;
  /** sha256, lower-case hex, over the stored bytes. */
  readonly hash: string;
}

/** A recorded event whose type and data are known to contracts. */
export type Recorded<E extends { type: string; data: unknown }> = Omit<RecordedEvent, 'type' | 'data'> & E;
