import type { Clock } from '@fixpoint/contracts/clock';
import { LEASE_RENEWAL_MS, LEASE_TTL_MS, type LeaseKey, type Leases } from '@fixpoint/messaging/lease';

/** Leases that tell when somebody will look at them again. */
export interface CountedLeases extends Leases {
  /** Ms until the next renewal or look at one that may have run out; null when there is none. */
  nextLookMs(): number | null;
}

/** A lease that nobody renewed for so long was seen to have run out by whoever looks for that. */
const LONGEST_WATCHED_MS = LEASE_TTL_MS + 2 * LEASE_RENEWAL_MS;

export const countedLeases = (leases: Leases, clock: Pick<Clock, 'monotonicMs'>): CountedLeases => {
  const open = new Map<string, number>();
  const nameOf = ({ stream, phase }: LeaseKey): string => `${phase} ${stream}`;
  const touch = (key: LeaseKey): void => void open.set(nameOf(key), clock.monotonicMs());
  return {
    ...leases,
    nextLookMs: () => {
      const since = clock.monotonicMs() - LONGEST_WATCHED_MS;
      return [...open.values()].some((touched) => touched >= since) ? LEASE_RENEWAL_MS : null;
    },
    take: async (request) => {
      touch(request);
      return leases.take(request);
    },
    renew: async (owner, keys, ttlMs) => {
      for (const key of keys) touch(key);
      return leases.renew(owner, keys, ttlMs);
    },
    release: async (owner, keys) => {
      for (const key of keys) open.delete(nameOf(key));
      await leases.release(owner, keys);
    },
  };
};
