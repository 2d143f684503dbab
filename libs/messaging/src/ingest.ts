/** What somebody outside has sent. */
export interface IngestMessage {
  /** As the subject names it. */
  readonly project: string;
  /** By name in lower case; the first value of each. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Number of it on the broker, and when that took it (ISO 8601). */
  readonly sequence: number;
  readonly sentAt: string;
}

/** `done`: it is in the store, or was given up for good. `later`: it comes again. A thrown error means `later`, too. */
export type IngestVerdict = 'done' | 'later';

export type HandleIngested = (message: IngestMessage) => Promise<IngestVerdict>;

/** What producers send over the broker, kept there until it was dealt with: at least once, in any order. */
export interface Ingest {
  /**
   * One round: waits a few seconds for messages, hands each over, and comes back once all were answered.
   * @param signal ends the wait.
   * @throws when the broker is out of reach.
   */
  take(handle: HandleIngested, signal: AbortSignal): Promise<void>;
}
