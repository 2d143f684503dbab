import { randomFillSync } from 'node:crypto';

const POOL = Buffer.alloc(4_096);

/** Random ids, and trace ids that were asked for. The SDK asks for ids while a span is started, never later. */
export class SpanIds {
  #trace: string | null = null;
  #used = POOL.length;

  /** Every trace that begins during `start` gets this id. */
  inTrace<T>(traceId: string | null, start: () => T): T {
    this.#trace = traceId;
    try {
      return start();
    } finally {
      this.#trace = null;
    }
  }

  readonly generateTraceId = (): string => this.#trace ?? this.#random(16);
  readonly generateSpanId = (): string => this.#random(8);

  #random(bytes: number): string {
    if (this.#used + bytes > POOL.length) {
      randomFillSync(POOL);
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += bytes;
    // All zero is no id; by chance it comes once in 2^64.
    const id = POOL.toString('hex', from, this.#used);
    return /[^0]/.test(id) ? id : this.#random(bytes);
  }
}
