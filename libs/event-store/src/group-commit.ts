import type { AppendOutcome } from './event-store.ts';
import type { StoredAppend } from './stored-event.ts';

/** An append that waits for its batch. */
export interface Waiting {
  readonly stored: StoredAppend;
  settle(outcome: AppendOutcome): void;
  fail(error: unknown): void;
}

/** Measured best between 100 and 200 rows; a single larger append still goes as one. */
const BATCH_ROWS = 200;
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Collects appends while every lane is busy and writes at once when one is free: nothing waits for company, and load
 * makes batches by itself. A stream is in one lane at a time, so a writer never races against itself.
 */
export class GroupCommit {
  private readonly write: (batch: readonly Waiting[]) => Promise<void>;
  private readonly lanes: number;
  private readonly inFlight = new Set<string>();
  private queue: Waiting[] = [];
  private busy = 0;
  private pumping = false;

  /** @param write settles or fails every append of its batch; must not reject. */
  constructor(write: (batch: readonly Waiting[]) => Promise<void>, lanes: number) {
    this.write = write;
    this.lanes = lanes;
  }

  add(waiting: Waiting): void {
    this.queue.push(waiting);
    if (this.pumping) return;
    this.pumping = true;
    // Appends made in the same tick go together; a microtask costs no time.
    queueMicrotask(() => {
      this.pumping = false;
      this.pump();
    });
  }

  private pump(): void {
    while (this.busy < this.lanes && this.queue.length > 0) {
      const batch = this.take();
      if (batch.length === 0) return;
      this.busy += 1;
      void this.run(batch);
    }
  }

  private async run(batch: readonly Waiting[]): Promise<void> {
    const streams = batch.map(({ stored }) => stored.append.stream);
    for (const stream of streams) this.inFlight.add(stream);
    try {
      await this.write(batch);
    } finally {
      for (const stream of streams) this.inFlight.delete(stream);
      this.busy -= 1;
      this.pump();
    }
  }

  /**
   * The oldest appends that may share one statement. Several of one stream may when each was decided on the one before;
   * they win or lose together. What does not fit keeps its place in the queue.
   */
  private take(): readonly Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const tops = new Map<string, number>();
    const held = new Set(this.inFlight);
    let rows = 0;
    let bytes = 0;
    let looked = 0;
    for (const waiting of this.queue) {
      const { append, events, bytes: size } = waiting.stored;
      if (batch.length > 0 && (rows + events.length > BATCH_ROWS || bytes + size > BATCH_BYTES)) break;
      looked += 1;
      const top = tops.get(append.stream);
      if (held.has(append.stream) || (top !== undefined && top !== append.expectedVersion)) {
        held.add(append.stream);
        left.push(waiting);
        continue;
      }
      tops.set(append.stream, append.expectedVersion + events.length);
      rows += events.length;
      bytes += size;
      batch.push(waiting);
    }
    this.queue = left.concat(this.queue.slice(looked));
    return batch;
  }
}
