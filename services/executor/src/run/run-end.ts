import type { Clock } from '@fixpoint/contracts/clock';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Runner } from '@fixpoint/execution/runner';
import type { SandboxPolicy } from '@fixpoint/execution/sandbox/confinement';
import type { Workspaces } from '@fixpoint/execution/workspaces';
import type { Models } from '@fixpoint/models/configured-models';
import type { ModelAccount } from '@fixpoint/models/model-account';
import type { Jobs } from '../jobs/jobs.ts';
import type { PrimitiveCalls } from '../ladder/primitive-calls.ts';
import type { RecordCall } from '../ladder/recorded-commands.ts';
import type { NodeReady, NodeVerifiedAction } from './assignment.ts';

export interface LongRunDeps {
  readonly runner: Runner;
  readonly sandboxPolicy: SandboxPolicy;
  readonly workspaces: Workspaces;
  readonly artifacts: Artifacts;
  readonly primitives: PrimitiveCalls;
  readonly jobs: Jobs;
  /** Names this process; different after each start. */
  readonly owner: string;
  readonly clock: Clock;
  /** A run that needs one that is not there is a fault. */
  readonly models: Models;
  /** The write API as commands of runs reach it; null: they are not told. */
  readonly apiUrl: string | null;
  /** Folder in which each run gets one of its own. */
  readonly folder: string;
}

/** How a run ended: its report, and what stands before that in the same decision. */
export interface RunEnd {
  readonly report: NodeVerifiedAction;
  readonly delivered: EventNamed<'result_delivered'>['data'] | null;
}

/** Where and until when one run works. */
export interface RunAt {
  /** Its own; not there yet. */
  readonly folder: string;
  readonly start: WorkspaceRef;
  readonly record: RecordCall;
  /** Jobs of workers that this run waited for: they end with it. */
  readonly jobs: string[];
  /** What its models may use up. */
  readonly account: ModelAccount;
  /** The run is stopped from outside. */
  readonly signal: AbortSignal;
  /** By the monotonic clock. */
  readonly deadlineMs: number;
  readonly durationMs: () => number;
}

/** Git refuses what task ids may hold. */
export const refNameOf = ({ root, task, run }: Pick<NodeReady, 'root' | 'task' | 'run'>): string =>
  `refs/fixpoint/${root}/${task.replaceAll('.', '-')}/${run}`;

/** A run ended by time or from outside: git was told to end, which is no failure of git. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
}

/** Work of the machinery, within the time of its run. @throws {RunStopped} */
export const withinRun = async <Result>(
  clock: Clock,
  { signal, deadlineMs }: Pick<RunAt, 'signal' | 'deadlineMs'>,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const inTime = AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs - clock.monotonicMs())));
  try {
    return await work(AbortSignal.any([signal, inTime]));
  } catch (error) {
    if (signal.aborted || inTime.aborted) throw new RunStopped('stopped', { cause: error });
    throw error;
  }
};
