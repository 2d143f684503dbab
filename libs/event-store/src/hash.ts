import { hash } from 'node:crypto';

/** What an event's hash covers, as stored: `metadata` and `data` are the stored texts, never values. */
export interface HashedParts {
  readonly stream: string;
  readonly version: number;
  readonly id: string;
  readonly type: string;
  readonly schemaVersion: number;
  /** ISO 8601, UTC, ms. */
  readonly occurredAt: string;
  readonly metadata: string;
  readonly data: string;
}

/**
 * sha256 over an event's stored bytes. Computed by the writer; a verifier recomputes it from the columns as they are.
 * The parts cannot run into each other: none of the three lines contains a raw line feed.
 */
export const eventHash = (parts: HashedParts): Buffer => {
  const head = JSON.stringify([
    parts.stream,
    parts.version,
    parts.id,
    parts.type,
    parts.schemaVersion,
    parts.occurredAt,
  ]);
  return hash('sha256', `${head}\n${parts.metadata}\n${parts.data}`, 'buffer');
};
