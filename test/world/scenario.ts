import type { Json } from '@fixpoint/contracts/json';

type Document = Readonly<Record<string, Json>>;

/** A task, the protocol it runs under, and how it must end. */
export interface Scenario {
  /** Name of the task, its idempotency key, and the name of the protocol. */
  readonly name: string;
  /** `task/v1` without kind and name. */
  readonly task: Document;
  /** `protocol/v1` without kind and name; absent: `default@1`. */
  readonly protocol?: Document;
  /** How often asking a source finds no network, by URL. */
  readonly outages?: Readonly<Record<string, number>>;
  readonly end: Ending;
}

export interface Ending {
  readonly status: 'satisfied' | 'degraded' | 'blocked' | 'human';
  /** Kind of halt behind a handoff or block. */
  readonly haltType?: string;
  /** Fix tasks of the closure; default 0. */
  readonly fixAttempts?: number;
  /** Deepest fix; default 0. */
  readonly depth?: number;
  /** Runs of the whole lineage. */
  readonly runs: number;
}
