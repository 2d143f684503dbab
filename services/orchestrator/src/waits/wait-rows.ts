import type { QueueClass, QueuedFor } from '@fixpoint/contracts/events/queue-events';

/** Who moves a task on: the answer of a hop, this service itself, a fix, time, a human, or its turn in the
 * queue. */
export type WaitKind =
  | 'gate'
  | 'action'
  | 'judge'
  | 'decide'
  | 'council'
  | 'fix'
  | 'epic'
  | 'timer'
  | 'human'
  | 'queue';

/** What one open task waits for. Rebuilt from the log at any time; only the three last fields are the healer's. */
export interface Waiting {
  readonly root: string;
  readonly task: string;
  readonly kind: WaitKind;
  readonly project: string;
  /** Run, or number of the request to the council. */
  readonly run: number;
  /** An executor took the run: it may have had effects. */
  readonly started: boolean;
  /** The event that nobody has answered: to be offered again. Null where nothing is on its way. */
  readonly stream: string | null;
  readonly version: number | null;
  /** Version of the run's `node_ready` on the lineage stream; null for a council. */
  readonly ready_version: number | null;
  /** ISO 8601: when the event was appended. */
  readonly since: string;
  readonly last_offer: string;
  readonly reoffers: number;
  /** When the healer looks at it next (ISO 8601); null for never. */
  readonly next_at: string | null;
}

export interface TimerRow {
  /** The same for the same timer, however often it is derived. */
  readonly id: string;
  readonly root: string;
  readonly kind: 'retry' | 'request' | 'recompose' | 'warning' | 'expiry' | 'deadline';
  readonly task: string;
  /** Run after which, or request after which; which handoff of the unit; 0 for a deadline. */
  readonly number: number;
  /** ISO 8601. */
  readonly due_at: string;
  /** When it may be claimed: `due_at`, or later after a claim that was not finished. */
  readonly next_at: string;
}

/** A run that waits for its turn. Rebuilt from the log; only `next_at` is the dispatcher's. */
export interface QueuedRow {
  readonly root: string;
  readonly task: string;
  readonly run: number;
  readonly unit: string;
  readonly project: string;
  readonly class: QueueClass;
  readonly affinity: number;
  /** Of the concurrency key that it needs a slot of, and how many slots that key has for it. */
  readonly key: string | null;
  readonly key_limit: number | null;
  readonly providers: readonly string[];
  readonly queued_for: QueuedFor;
  /** ISO 8601. */
  readonly since: string;
  /** Not to be started before (ISO 8601). */
  readonly next_at: string;
}

/** All rows of one lineage, by task and by timer id. */
export interface LineageWaits {
  readonly waiting: Readonly<Record<string, Waiting>>;
  readonly timers: Readonly<Record<string, TimerRow>>;
  readonly queued: Readonly<Record<string, QueuedRow>>;
}

export const NO_WAITS: LineageWaits = { waiting: {}, timers: {}, queued: {} };
