/** Time as a port. Business time comes from `now()`; durations from `monotonicMs()`; waiting from `sleep`. */
export interface Clock {
  /** Wall clock, UTC. */
  now(): Date;
  /** Milliseconds that never go back; only differences mean anything. */
  monotonicMs(): number;
  /** Resolves after `ms` or when the signal aborts, whichever is first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Randomness as a port. */
export interface Ids {
  /** A fresh uuid, lower case. */
  uuid(): string;
}
