import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import { startsElsewhere } from '@fixpoint/contracts/human-decision';
import { modelProvider } from '@fixpoint/contracts/provider-name';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { WorkspaceFault } from '@fixpoint/execution/workspace-fault';
import { type ModelAccount, modelAccount } from '@fixpoint/models/model-account';
import { ModelFault } from '@fixpoint/models/model-fault';
import type { RecordCall } from '../ladder/recorded-commands.ts';
import type { Assignment, NodeReady, NodeVerifiedAction } from './assignment.ts';
import { climbRun } from './climb-run.ts';
import { deliverRun } from './deliver-run.ts';
import { faultClassOf } from './fault-class.ts';
import { integrateRun } from './integrate-run.ts';
import { type LongRunDeps, type RunAt, type RunEnd, RunStopped } from './run-end.ts';
import { cancelledReport, faultedReport } from './run-report.ts';

interface Place {
  readonly record: RecordCall;
  readonly signal: AbortSignal;
}

/**
 * One run in a folder of its own, which is a cache and is removed whatever happens. Machinery that fails is told by its own
 * errors and becomes a fault of a class; everything else is thrown. What its models used up is in the report either way.
 */
export const longRun = async (deps: LongRunDeps, assignment: Assignment, place: Place): Promise<RunEnd> => {
  const account = modelAccount(assignment.nodeReady.allowance);
  const jobs: string[] = [];
  const { report, delivered } = await runWith(deps, assignment, { ...place, account, jobs });
  if (!isHandedOn(place.signal)) for (const job of jobs) await deps.jobs.close(job, `the run ended ${report.outcome}`);
  else for (const job of jobs) await deps.jobs.leave(job);
  return { report: { ...report, spent: { ...report.spent, ...account.spent() } }, delivered };
};

/** The run is done again elsewhere, and may find what a worker did for this one. */
const isHandedOn = ({ reason }: AbortSignal): boolean => reason === 'shutdown' || reason === 'lease_lost';

const runWith = async (
  deps: LongRunDeps,
  assignment: Assignment,
  { record, signal, account, jobs }: Place & { readonly account: ModelAccount; readonly jobs: string[] },
): Promise<RunEnd> => {
  const startedAt = deps.clock.monotonicMs();
  const durationMs = () => deps.clock.monotonicMs() - startedAt;
  const folder = join(deps.folder, `run-${randomUUID()}`);
  const { nodeReady } = assignment;
  const faulted: Faulted = (faultClass, detail) => ({
    report: faultedReport(nodeReady, { class: faultClass, detail, durationMs: durationMs() }),
    delivered: null,
  });
  try {
    const start = await startOf(deps, nodeReady);
    const deadlineMs = deps.clock.monotonicMs() + Math.min(nodeReady.node.timeout_ms, nodeReady.allowance.time_ms);
    const end = await endOf(deps, assignment, { folder, start, record, jobs, account, signal, deadlineMs, durationMs });
    return signal.reason === 'shutdown' && end.delivered === null ? faulted('shutdown', TOLD_TO_STOP) : end;
  } catch (error) {
    if (error instanceof RunStopped) return stopped(nodeReady, { signal, faulted, durationMs });
    return byFault(error, faulted);
  } finally {
    await deps.workspaces.remove(folder);
  }
};

type Faulted = (faultClass: FaultClass, detail: string) => RunEnd;

/** @throws the error itself where it is none of the machinery's. */
const byFault = (error: unknown, faulted: Faulted): RunEnd => {
  const faultClass = faultClassOf(error);
  if (faultClass === null) throw error;
  const end = faulted(faultClass, String(error));
  return { ...end, report: { ...end.report, provider_fault: providerFaultOf(error) } };
};

const providerFaultOf = (error: unknown): NodeVerifiedAction['provider_fault'] => {
  if (error instanceof ModelFault)
    return { provider: modelProvider(error.provider), retry_after_ms: error.retryAfterMs };
  if (error instanceof WorkspaceFault && error.provider !== null)
    return { provider: error.provider, retry_after_ms: 0 };
  return null;
};

const TOLD_TO_STOP = 'the executor was told to stop';

/** An epic without a workspace of its own starts from what its first child brings. */
const startOf = async ({ workspaces }: LongRunDeps, nodeReady: NodeReady): Promise<WorkspaceRef> => {
  const { workspace_ref, merge, source } = nodeReady;
  if (startsElsewhere(nodeReady)) return workspaces.resolve(source);
  return workspace_ref ?? merge?.theirs ?? (await workspaces.resolve(source));
};

const endOf = (deps: LongRunDeps, assignment: Assignment, at: RunAt): Promise<RunEnd> => {
  const { run_kind: kind } = assignment.nodeReady;
  switch (kind) {
    case 'integrate':
      return integrateRun(deps, assignment, at);
    case 'deliver':
      return deliverRun(deps, assignment, at);
    case 'normal':
    case 'check':
    case 'agent':
      return climbRun(deps, assignment, { ...at, runKind: kind });
    default:
      return kind satisfies never;
  }
};

interface Stopped {
  readonly signal: AbortSignal;
  readonly faulted: Faulted;
  readonly durationMs: () => number;
}

/** Work of the machinery that did not come to its end: by time, with the process, or because nobody wants it any more. */
const stopped = (nodeReady: NodeReady, { signal, faulted, durationMs }: Stopped): RunEnd => {
  if (!signal.aborted) return faulted('run_timeout', 'the time of the run was over');
  if (signal.reason === 'shutdown') return faulted('shutdown', TOLD_TO_STOP);
  return { report: cancelledReport(nodeReady, durationMs()), delivered: null };
};
