import type { JobFailure, JobRequest, JobResult, JobState } from '@fixpoint/contracts/rest/jobs';

/** One run of a node that a worker is to do. */
export interface NewJob {
  readonly id: string;
  /** The same for the same work from the same start, whichever run asks for it. */
  readonly workKey: string;
  readonly queue: string;
  /** Of the run. */
  readonly stream: string;
  /** The executor that waits for it. */
  readonly owner: string;
  readonly request: JobRequest;
  /** Artifact with the files, a tar archive; null for none. */
  readonly workspace: string | null;
  /** What is left of the run's time, ms. */
  readonly timeMs: number;
}

/** What a worker says of its own job. */
export interface JobClaim {
  readonly job: string;
  readonly epoch: number;
  /** Name of the key that the worker asks with. */
  readonly holder: string;
}

/**
 * `unknown`: there is no such job, or not any more. `over`: nobody wants its result. `not_yours`: an earlier epoch, or
 * another key's. `settled`: it has its end, and this is another one.
 */
export type JobRefusal = 'unknown' | 'over' | 'not_yours' | 'settled' | 'too_many_parts';

export interface Taking {
  readonly holder: string;
  readonly worker: string;
  readonly leaseMs: number;
}

export interface TakenJob {
  readonly job: string;
  readonly epoch: number;
  readonly queue: string;
  readonly request: JobRequest;
  readonly workspace: string | null;
  readonly timeMs: number;
}

export type Settlement =
  | { readonly kind: 'result'; readonly result: Omit<JobResult, 'epoch' | 'files' | 'patch'> }
  | { readonly kind: 'failure'; readonly failure: Omit<JobFailure, 'epoch'> };

/** How a job stands, for the executor that waits for it. */
export type JobStanding =
  | { readonly status: 'offered' }
  | { readonly status: 'leased'; readonly worker: string; readonly isLost: boolean }
  | {
      readonly status: 'settled';
      readonly worker: string;
      readonly epoch: number;
      /** Artifacts with what it did to the workspace, in order. */
      readonly parts: readonly string[];
      readonly settlement: Settlement;
    }
  | { readonly status: 'closed' };

/** Most pieces in which a worker may send what it did. */
export const MOST_PARTS = 1_000;

/** An executor that did not say for so long that it waits for a job does not wait for it any more. */
export const OWNED_MS = 15_000;

/**
 * The jobs of all executors of an installation. Who may say something about a job is decided here, by the epoch of its
 * lease. Every adapter passes `jobs.contract.ts`.
 */
export interface Jobs {
  /**
   * Makes a job. One for the same work whose executor is gone is taken over as it stands, result and worker included.
   * @returns its id; null while another executor still waits for the same work.
   */
  offer(job: NewJob): Promise<string | null>;
  /** The oldest job of a queue that somebody waits for and nobody works on; from then on it is the holder's. */
  take(queue: string, by: Taking): Promise<TakenJob | null>;
  /** Begins the time of the lease anew. */
  heartbeat(claim: JobClaim, progress: string | null): Promise<JobRefusal | { readonly leaseMs: number }>;
  /** The files that the worker is to begin with. */
  workspace(claim: JobClaim): Promise<JobRefusal | { readonly artifact: string | null }>;
  addPart(claim: JobClaim, artifact: string): Promise<JobRefusal | null>;
  /** The same end said twice is said once. */
  settle(claim: JobClaim, settlement: Settlement, parts: readonly string[]): Promise<JobRefusal | null>;
  /** Gives the job back undone. */
  release(claim: JobClaim): Promise<JobRefusal | null>;
  /** Says that its executor still waits. */
  keep(job: string): Promise<void>;
  standing(job: string): Promise<JobStanding>;
  /** Nobody waits for it any more, so another executor may take it over. */
  leave(job: string): Promise<void>;
  /** Nobody wants it any more; the worker hears of it when it next says something. */
  close(job: string, because: string): Promise<void>;
  /** Forgets what has been closed or left alone for so long. */
  sweep(olderThanMs: number): Promise<void>;
  /** Those that are not closed, the oldest first. */
  list(limit: number): Promise<readonly JobState[]>;
}
