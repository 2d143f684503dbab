/** What a lease is on: one phase (`action`, `gate`, `judge`, `council`, …) of the work that a stream is about. */
export interface LeaseKey {
  readonly stream: string;
  readonly phase: string;
}

export interface LeaseRequest extends LeaseKey {
  /** Names one process; different after each start. */
  readonly owner: string;
  readonly ttlMs: number;
}

export type LeaseTaken =
  | { readonly lease: 'taken' }
  /** Somebody else works on it, until then at least, by the clock of whoever keeps the leases. */
  | { readonly lease: 'held'; readonly heldBy: string; readonly expiresAt: Date };

/** A lease lives this long without renewal: how long a killed owner's work rests. */
export const LEASE_TTL_MS = 15_000;

/** How often an owner renews, all its leases at once. */
export const LEASE_RENEWAL_MS = 1_000;

/**
 * Who works on what. Saves double work; it is not the fence: that is the version of the stream, because an owner that
 * was asleep does not know that its lease is over. Every adapter passes `leases.contract.ts`. Faults are thrown.
 */
export interface Leases {
  /** Takes a lease that is free, over, or the owner's own already (then its time begins anew). */
  take(request: LeaseRequest): Promise<LeaseTaken>;
  /**
   * Renews the owner's leases in one statement.
   * @returns those of `keys` that are no longer the owner's, because they were over and taken or released: stop that work.
   */
  renew(owner: string, keys: readonly LeaseKey[], ttlMs: number): Promise<readonly LeaseKey[]>;
  /** Gives up leases, so that others need not wait; those of others stay. */
  release(owner: string, keys: readonly LeaseKey[]): Promise<void>;
  /** Leases of a phase that are over and that nobody has taken or released: whose owner is gone. The oldest first. */
  overdue(phase: string, limit: number): Promise<readonly LeaseKey[]>;
}
