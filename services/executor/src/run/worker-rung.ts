import { randomUUID } from 'node:crypto';
import { contentHash } from '@fixpoint/contracts/content-hash';
import { actionStream } from '@fixpoint/contracts/streams';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { CommandOutcome } from '../domain/ladder.ts';
import type { JobStanding, NewJob } from '../jobs/jobs.ts';
import { type RemoteCall, recordOfWork } from '../ladder/remote-work.ts';
import type { Trace } from '../ladder/trace.ts';
import type { GovernancePassed, NodeReady } from './assignment.ts';
import { landWork } from './land-work.ts';
import type { LongRunDeps, RunAt } from './run-end.ts';

/** No worker did the job: no evidence about the work. */
export class WorkerFault extends Error {
  override readonly name = 'WorkerFault';
  readonly faultClass: 'lost_worker' | 'run_timeout';

  constructor(faultClass: WorkerFault['faultClass'], detail: string) {
    super(detail);
    this.faultClass = faultClass;
  }
}

export interface WorkerSetting {
  readonly nodeReady: NodeReady;
  readonly passed: Pick<GovernancePassed, 'token'>;
  readonly at: RunAt;
  /** The workspace as it is now. */
  readonly here: () => Promise<WorkspaceRef>;
}

/** How often a job is looked at, and how often it is said that somebody waits for it. */
const LOOK_EVERY_MS = 200;
const KEEP_EVERY_MS = 5_000;

/** Has a worker of the queue do the recipe, and lands what it did in the workspace. What it says about it is no verdict. */
export const letWork =
  (deps: LongRunDeps, setting: WorkerSetting) =>
  async (trace: Trace): Promise<CommandOutcome> => {
    const { recipe } = setting.nodeReady.node;
    if (!('worker' in recipe)) throw new Error('the recipe names no queue');
    const startedAt = deps.clock.monotonicMs();
    const command = `worker ${recipe.worker} ${JSON.stringify(recipe.with)}`;
    trace.last = { command, result: null };
    const end = await endOfJob(deps, setting, recipe.worker);
    refuseFault(end);
    const work = end.status === 'settled' ? await landWork(deps, setting.at, end) : null;
    const outcome = work?.outcome ?? outcomeWithout(end);
    leaveTrace(trace, { outcome, work });
    await setting.at.record(
      await recordOfWork({ command, outcome, work, durationMs: deps.clock.monotonicMs() - startedAt }, deps.artifacts),
    );
    return outcome;
  };

const outcomeWithout = ({ status }: EndOfJob): 'cancelled' | 'timed_out' =>
  status === 'cancelled' ? 'cancelled' : 'timed_out';

const leaveTrace = (trace: Trace, { outcome, work }: Pick<RemoteCall, 'outcome' | 'work'>): void => {
  trace.exitCode = work?.exitCode ?? null;
  trace.printed = { stdout: work?.stdout ?? '', stderr: work?.stderr ?? '' };
  if (work !== null) trace.output = work.output;
  trace.detail = work?.detail ?? outcome;
};

type EndOfJob = Extract<JobStanding, { status: 'settled' }> | { readonly status: 'cancelled' | 'timed_out' };

const endOfJob = async (deps: LongRunDeps, setting: WorkerSetting, queue: string): Promise<EndOfJob> => {
  const { at } = setting;
  const job = await newJob(deps, setting, queue);
  const id = await offered(deps, job, at);
  if (id === null) return lateEnd({ status: 'offered' }, { at, queue });
  at.jobs.push(id);
  return awaited(deps, id, { at, queue });
};

const newJob = async (
  deps: LongRunDeps,
  { nodeReady, passed, at, here }: WorkerSetting,
  queue: string,
): Promise<NewJob> => {
  const { root, task, run, node, scope } = nodeReady;
  const start = await here();
  const archive = await deps.workspaces.archive(start);
  const parameters = 'worker' in node.recipe ? node.recipe.with : {};
  return {
    id: randomUUID(),
    workKey: contentHash({ task, node: node.id, recipe: node.recipe, env: node.env, tree: start.tree }),
    queue,
    stream: actionStream(task, run),
    owner: deps.owner,
    request: {
      ...{ root, task, run, node_id: node.id, scope, goal: node.goal, with: parameters, env: node.env },
      idempotency_key: `${task}/${node.id}`,
      run_token: passed.token,
    },
    workspace: archive?.hash ?? null,
    timeMs: Math.max(0, Math.ceil(at.deadlineMs - deps.clock.monotonicMs())),
  };
};

const isOver = ({ clock }: LongRunDeps, { signal, deadlineMs }: RunAt): boolean =>
  signal.aborted || clock.monotonicMs() >= deadlineMs;

/** An executor that is gone may seem to wait for the same work for some seconds still. */
const offered = async (deps: LongRunDeps, job: NewJob, at: RunAt): Promise<string | null> => {
  while (!isOver(deps, at)) {
    const id = await deps.jobs.offer(job);
    if (id !== null) return id;
    await deps.clock.sleep(LOOK_EVERY_MS, at.signal);
  }
  return null;
};

const awaited = async (
  deps: LongRunDeps,
  id: string,
  { at, queue }: { readonly at: RunAt; readonly queue: string },
): Promise<EndOfJob> => {
  let keptAt = deps.clock.monotonicMs();
  for (;;) {
    const standing = await deps.jobs.standing(id);
    if (standing.status === 'settled') return standing;
    if (isOver(deps, at)) return lateEnd(standing, { at, queue });
    refuseLost(standing, queue);
    if (deps.clock.monotonicMs() - keptAt >= KEEP_EVERY_MS) {
      keptAt = deps.clock.monotonicMs();
      await deps.jobs.keep(id);
    }
    await deps.clock.sleep(LOOK_EVERY_MS, at.signal);
  }
};

/** @throws {WorkerFault} when the worker says that its own machinery failed. */
const refuseFault = (end: EndOfJob): void => {
  if (end.status !== 'settled' || end.settlement.kind !== 'failure' || !end.settlement.failure.fault) return;
  throw new WorkerFault('lost_worker', `worker ${end.worker}: ${end.settlement.failure.reason}`);
};

const refuseLost = (standing: JobStanding, queue: string): void => {
  if (standing.status === 'closed') throw new WorkerFault('lost_worker', `the job for ${queue} was taken away`);
  if (standing.status !== 'leased' || !standing.isLost) return;
  throw new WorkerFault('lost_worker', `worker ${standing.worker} let its lease run out`);
};

/** A worker that had its time has left what it has left; without one, nothing can be said about the work. */
const lateEnd = (standing: JobStanding, { at, queue }: { readonly at: RunAt; readonly queue: string }): EndOfJob => {
  if (at.signal.aborted) return { status: 'cancelled' };
  if (standing.status === 'leased') return { status: 'timed_out' };
  throw new WorkerFault('run_timeout', `no worker asked for a job of ${queue} in the time of the run`);
};
