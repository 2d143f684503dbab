import type { Clock } from '@fixpoint/contracts/clock';
import type { LeaseKey, LeaseRequest, Leases, LeaseTaken } from './lease.ts';

/** Leases of one process, by its clock: for the embedded installation without a database, and the simulator. */
export const memoryLeases = (clock: Clock): Leases => {
  const held = new Map<string, { owner: string; expiresAtMs: number }>();
  const nameOf = ({ stream, phase }: LeaseKey): string => JSON.stringify([stream, phase]);
  const keyOf = (name: string): LeaseKey => {
    const [stream, phase] = JSON.parse(name) as [string, string];
    return { stream, phase };
  };
  const isOwn = (owner: string, key: LeaseKey): boolean => held.get(nameOf(key))?.owner === owner;
  return {
    take: async (request: LeaseRequest): Promise<LeaseTaken> => {
      const nowMs = clock.now().getTime();
      const current = held.get(nameOf(request));
      if (current !== undefined && current.owner !== request.owner && current.expiresAtMs > nowMs) {
        return { lease: 'held', heldBy: current.owner, expiresAt: new Date(current.expiresAtMs) };
      }
      held.set(nameOf(request), { owner: request.owner, expiresAtMs: nowMs + request.ttlMs });
      return { lease: 'taken' };
    },
    renew: async (owner, keys, ttlMs) => {
      const expiresAtMs = clock.now().getTime() + ttlMs;
      for (const key of keys) if (isOwn(owner, key)) held.set(nameOf(key), { owner, expiresAtMs });
      return keys.filter((key) => !isOwn(owner, key));
    },
    release: async (owner, keys) => {
      for (const key of keys) if (isOwn(owner, key)) held.delete(nameOf(key));
    },
    overdue: async (phase, limit) => {
      const nowMs = clock.now().getTime();
      return [...held]
        .filter(([, { expiresAtMs }]) => expiresAtMs <= nowMs)
        .sort(([, a], [, b]) => a.expiresAtMs - b.expiresAtMs)
        .map(([name]) => keyOf(name))
        .filter((key) => key.phase === phase)
        .slice(0, limit);
    },
  };
};
