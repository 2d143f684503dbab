import type { Cursor } from '@fixpoint/contracts/envelope';
import type { ProviderRow } from '../providers/provider-row.ts';
import type { QueuedRow } from '../waits/wait-rows.ts';

/** Runs of a project: in flight, and waiting for room in the window. */
export interface ProjectStanding {
  readonly project: string;
  readonly running: number;
  readonly queued: number;
}

/** How things stand, as far as the log was followed. */
export interface Standing {
  readonly upTo: Cursor;
  readonly projects: readonly ProjectStanding[];
  /** Runs that wait for their turn, whatever for. */
  readonly length: number;
  /** When the oldest of them was queued (ISO 8601). */
  readonly oldest: string | null;
}

export interface Wanted {
  /** Of each class and project at most so many. */
  readonly each: number;
  /** Projects whose window is full. */
  readonly full: readonly string[];
  /** Providers that nobody is to ask for now. */
  readonly paused: readonly string[];
}

/** Numbers of starts: the last one of each project, and how many there were. */
export interface Turns {
  readonly projects: ReadonlyMap<string, number>;
  readonly total: number;
}

/**
 * The queue of all replicas: what the projection of waits shows of it, who holds the slots of concurrency keys, and whose
 * turn it was last. Every adapter passes `queue.contract.ts`.
 */
export interface Queue {
  standing(): Promise<Standing>;
  /**
   * What could start now: viable, not held back for want of money, due, with a free slot where it needs one. Of each class and project the first in order:
   * highest affinity, then oldest.
   */
  startable(wanted: Wanted): Promise<readonly QueuedRow[]>;
  /**
   * Nobody else is given the rows for a while.
   * @returns those that no other replica had claimed.
   */
  claim(rows: readonly QueuedRow[]): Promise<readonly QueuedRow[]>;
  /** Gives claimed rows back at once. */
  release(rows: readonly QueuedRow[]): Promise<void>;
  /**
   * A slot of the row's key: exact over all replicas, and the same one when asked again. Always true without a key.
   * @returns false when all slots of the key are held.
   */
  takeSlot(row: QueuedRow): Promise<boolean>;
  /** Frees the slots of runs that are neither queued nor in flight, as far as the log was followed. */
  freeSlots(): Promise<void>;
  /** How providers stand that were ever paused. */
  providers(): Promise<readonly ProviderRow[]>;
  turns(): Promise<Turns>;
  /** Notes that these projects were served, in this order. */
  served(projects: readonly string[]): Promise<void>;
}
