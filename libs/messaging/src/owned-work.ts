import type { Clock } from '@fixpoint/contracts/clock';
import type { Stopped } from '@fixpoint/contracts/stopped';
import { concerns } from './ended-tasks.ts';
import { LEASE_RENEWAL_MS, LEASE_TTL_MS, type LeaseKey, type Leases } from './lease.ts';
import { slots } from './slots.ts';

/** Why work was stopped. `stopped`: its task or its run is over. `lease_lost`: it is somebody else's now. `no_slot`: it never began. */
export type StopReason = 'stopped' | 'lease_lost' | 'shutdown' | 'no_slot';

export interface Work extends LeaseKey {
  readonly root: string;
  readonly task: string;
  /** The run that it is done for; left out where it is for none. */
  readonly run?: number;
}

export type WorkResult<Result> =
  | { readonly outcome: 'done'; readonly result: Result }
  /** Somebody else does it, or this process already does. */
  | { readonly outcome: 'held' }
  /** It never began. */
  | { readonly outcome: 'stopped'; readonly reason: StopReason };

/**
 * Work that takes longer than a moment: one process at a time does a piece of it, under a lease. The signal tells the body
 * to stop, with the {@link StopReason}; what it stores must be fenced by the version of its stream all the same.
 */
export interface OwnedWork {
  run<Result>(
    work: Work,
    shutdown: AbortSignal,
    body: (signal: AbortSignal) => Promise<Result>,
  ): Promise<WorkResult<Result>>;
  /** Stops the work for what is over. */
  stop(over: Stopped & { readonly root: string }): void;
  /** One round of the loop that keeps the leases: renews all in one statement, and looks for tasks that have ended. */
  renew(signal: AbortSignal): Promise<void>;
}

export interface OwnedWorkDeps {
  readonly leases: Leases;
  readonly clock: Clock;
  /** Names this process; different after each start. */
  readonly owner: string;
  /** Whether the store says that this is over: what was told to {@link OwnedWork.stop} may have been missed. */
  hasEnded(work: Pick<Work, 'root' | 'task' | 'run'>): Promise<boolean>;
  /** Pieces at once; others wait without a lease, and are given up after a moment: another process may have room. */
  readonly concurrency: number;
}

/** An owner that could not renew for so long stops by itself, before a lease of 15 s is over. */
const GIVE_UP_AFTER_MS = 10_000;

/** How long a piece waits for a slot of this process. */
const SLOT_PATIENCE_MS = 500;

interface Piece {
  readonly work: Work;
  readonly controller: AbortController;
  /** False while it waits for its slot: there is nothing to renew. */
  isLeased: boolean;
}

export const ownedWork = (deps: OwnedWorkDeps): OwnedWork => {
  const { leases, clock, owner } = deps;
  const pieces = new Map<string, Piece>();
  const inSlot = slots(deps.concurrency);
  let renewedAt = clock.monotonicMs();

  const stopWhere = (reason: StopReason, matches: (work: Work) => boolean): void => {
    for (const { work, controller } of pieces.values()) if (matches(work)) controller.abort(reason);
  };

  const renewAll = async (): Promise<void> => {
    const keys = [...pieces.values()].filter(({ isLeased }) => isLeased).map(({ work }) => keyOf(work));
    const lost = keys.length === 0 ? [] : await leases.renew(owner, keys, LEASE_TTL_MS);
    const names = new Set(lost.map(nameOf));
    stopWhere('lease_lost', (work) => names.has(nameOf(work)));
    renewedAt = clock.monotonicMs();
  };

  const stopEnded = async (): Promise<void> => {
    for (const { work, isLeased } of pieces.values()) {
      if (isLeased && (await deps.hasEnded(work))) stopWhere('stopped', (each) => each === work);
    }
  };

  return {
    run: (work, shutdown, body) =>
      pieces.has(nameOf(work))
        ? Promise.resolve({ outcome: 'held' })
        : runPiece({ deps, pieces, inSlot }, work, { shutdown, body }),
    stop: (over) => stopWhere('stopped', (work) => work.root === over.root && concerns(over, work)),
    renew: async (signal) => {
      try {
        await renewAll();
        await stopEnded();
      } finally {
        if (clock.monotonicMs() - renewedAt > GIVE_UP_AFTER_MS) stopWhere('lease_lost', () => true);
        await clock.sleep(LEASE_RENEWAL_MS, signal);
      }
    },
  };
};

const keyOf = ({ stream, phase }: LeaseKey): LeaseKey => ({ stream, phase });
const nameOf = ({ stream, phase }: LeaseKey): string => `${phase} ${stream}`;

interface Desk {
  readonly deps: OwnedWorkDeps;
  readonly pieces: Map<string, Piece>;
  readonly inSlot: ReturnType<typeof slots>;
}

interface Job<Result> {
  readonly shutdown: AbortSignal;
  readonly body: (signal: AbortSignal) => Promise<Result>;
}

const runPiece = async <Result>(desk: Desk, work: Work, job: Job<Result>): Promise<WorkResult<Result>> => {
  const controller = new AbortController();
  const onShutdown = (): void => controller.abort('shutdown');
  if (job.shutdown.aborted) onShutdown();
  job.shutdown.addEventListener('abort', onShutdown, { once: true });
  const piece: Piece = { work, controller, isLeased: false };
  desk.pieces.set(nameOf(work), piece);
  const waited = new AbortController();
  const patience = desk.deps.clock.sleep(SLOT_PATIENCE_MS, waited.signal);
  try {
    const result = await desk.inSlot(() => {
      // A reason of its own: without one an exception is built for every piece of work.
      waited.abort('begun');
      return underLease(desk.deps, piece, job.body);
    }, patience);
    return result ?? { outcome: 'stopped', reason: 'no_slot' };
  } finally {
    desk.pieces.delete(nameOf(work));
    job.shutdown.removeEventListener('abort', onShutdown);
  }
};

const underLease = async <Result>(
  { leases, owner, hasEnded }: OwnedWorkDeps,
  piece: Piece,
  body: Job<Result>['body'],
): Promise<WorkResult<Result>> => {
  const { signal } = piece.controller;
  const key = keyOf(piece.work);
  if (await hasEnded(piece.work)) return { outcome: 'stopped', reason: 'stopped' };
  if (signal.aborted) return { outcome: 'stopped', reason: signal.reason };
  const taken = await leases.take({ ...key, owner, ttlMs: LEASE_TTL_MS });
  if (taken.lease === 'held') return { outcome: 'held' };
  piece.isLeased = true;
  try {
    return { outcome: 'done', result: await body(signal) };
  } finally {
    piece.isLeased = false;
    await leases.release(owner, [key]);
  }
};
