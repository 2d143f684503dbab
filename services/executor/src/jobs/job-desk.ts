import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import type { Clock } from '@fixpoint/contracts/clock';
import type {
  Changes,
  Heartbeat,
  JobFailure,
  JobResult,
  JobState,
  LeasedJob,
  LeaseJob,
  SendFiles,
} from '@fixpoint/contracts/rest/jobs';
import { Refused } from '@fixpoint/decider/refused';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { notFound } from '@fixpoint/runtime/http-problem';
import type { JobClaim, JobRefusal, Jobs, TakenJob } from './jobs.ts';

export interface JobDeskDeps {
  readonly jobs: Jobs;
  readonly artifacts: Pick<Artifacts, 'get' | 'put'>;
  readonly clock: Clock;
  /** The process stops: nobody waits any longer. */
  readonly closing: AbortSignal;
}

/** What workers ask for and say, whichever executor of the installation hears it. */
export interface JobDesk {
  /** @returns null when there was no job in the time that the worker waits. */
  lease(holder: string, asked: LeaseJob, signal: AbortSignal): Promise<LeasedJob | null>;
  heartbeat(claim: JobClaim, said: Heartbeat): Promise<{ readonly lease_ms: number }>;
  /** The files to begin with, a tar archive. */
  workspace(claim: JobClaim): Promise<AsyncIterable<Uint8Array>>;
  sendFiles(claim: JobClaim, sent: SendFiles): Promise<void>;
  result(claim: JobClaim, said: JobResult): Promise<void>;
  fail(claim: JobClaim, said: JobFailure): Promise<void>;
  release(claim: JobClaim): Promise<void>;
  list(): Promise<readonly JobState[]>;
}

const LOOK_EVERY_MS = 200;
const MOST_LISTED = 1_000;

export const jobDesk = (deps: JobDeskDeps): JobDesk => {
  const { jobs } = deps;
  return {
    lease: async (holder, asked, signal) => {
      const taken = await waited(deps, asked, { holder, signal });
      return taken && leasedJob(taken, asked);
    },
    heartbeat: async (claim, { progress = null }) => ({
      lease_ms: accepted(await jobs.heartbeat(claim, progress)).leaseMs,
    }),
    workspace: async (claim) => {
      const { artifact } = accepted(await jobs.workspace(claim));
      const bytes = artifact === null ? null : await deps.artifacts.get(artifact);
      if (bytes === null) throw notFound('workspace_empty', 'this job has no files to begin with');
      return bytes;
    },
    sendFiles: async (claim, { files, patch }) => {
      for (const part of await partsOf(deps, { files, patch })) accepted((await jobs.addPart(claim, part)) ?? {});
    },
    result: async (claim, { epoch: _, files, patch, ...result }) => {
      const parts = await partsOf(deps, { files, patch });
      accepted((await jobs.settle(claim, { kind: 'result', result }, parts)) ?? {});
    },
    fail: async (claim, { epoch: _, ...failure }) =>
      void accepted((await jobs.settle(claim, { kind: 'failure', failure }, [])) ?? {}),
    release: async (claim) => void accepted((await jobs.release(claim)) ?? {}),
    list: () => jobs.list(MOST_LISTED),
  };
};

const waited = async (
  { jobs, clock, closing }: JobDeskDeps,
  { queue, worker, lease_ms: leaseMs, wait_ms }: LeaseJob,
  { holder, signal }: { readonly holder: string; readonly signal: AbortSignal },
): Promise<TakenJob | null> => {
  const until = clock.monotonicMs() + wait_ms;
  const over = AbortSignal.any([closing, signal]);
  while (!over.aborted) {
    const taken = await jobs.take(queue, { holder, worker, leaseMs });
    if (taken !== null || clock.monotonicMs() >= until) return taken;
    await clock.sleep(Math.min(LOOK_EVERY_MS, until - clock.monotonicMs()), over);
  }
  return null;
};

const leasedJob = ({ job, epoch, queue, request, workspace, timeMs }: TakenJob, asked: LeaseJob): LeasedJob => ({
  ...{ job, epoch, queue, request },
  lease_ms: asked.lease_ms,
  time_ms: timeMs,
  has_workspace: workspace !== null,
});

/** One artifact with what was sent; none when nothing was. */
const partsOf = async (
  { artifacts }: Pick<JobDeskDeps, 'artifacts'>,
  { files, patch }: { readonly files: Changes['files']; readonly patch: string | undefined },
): Promise<string[]> => {
  if (files.length === 0 && patch === undefined) return [];
  const text = canonicalJson({ files, ...(patch === undefined ? {} : { patch }) });
  return [(await artifacts.put(Buffer.from(text))).hash];
};

const DETAILS: Readonly<Record<Exclude<JobRefusal, 'unknown'>, readonly [code: string, detail: string]>> = {
  over: ['job_over', 'nobody wants this job done any more: stop it'],
  not_yours: ['job_not_yours', 'another lease holds this job: stop it'],
  settled: ['job_settled', 'this job has its result already'],
  too_many_parts: ['too_many_parts', 'the files of this job came in too many pieces'],
};

/** @throws {HttpProblem} 404 @throws {Refused} */
const accepted = <Answer extends object>(answer: Answer | JobRefusal): Answer => {
  if (typeof answer !== 'string') return answer;
  if (answer === 'unknown') throw notFound('job_unknown', 'there is no such job, or not any more: stop it');
  throw new Refused(...DETAILS[answer]);
};
