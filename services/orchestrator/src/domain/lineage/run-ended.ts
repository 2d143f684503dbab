import { contentHash } from '@fixpoint/contracts/content-hash';
import { judgementSignature } from '@fixpoint/contracts/signature';
import { after, backoffMs } from './backoff.ts';
import { block } from './blocked.ts';
import { bounded } from './bounded.ts';
import { boundsOf } from './budget/effective-bounds.ts';
import type { EndRun, RunResult } from './commands.ts';
import { countersAfter, countRun, NOT_JUDGED } from './count-run.ts';
import { notResolved } from './decisions/not-resolved.ts';
import { landingFailed } from './epics/land.ts';
import { isLanding } from './epics/landing-of.ts';
import { recomposeFailed } from './epics/recompose.ts';
import { recordFault } from './faults.ts';
import { withGrants } from './granted.ts';
import { handOff, NO_FINDINGS } from './handoff.ts';
import { executeBound, executeBoundInFix, indeterminateBound } from './limits.ts';
import { followedBy, inFlight, type Turn, taskOf, unitOf } from './lookup.ts';
import { nextRun } from './next-run.ts';
import { isRepeated, recover, validatorOf } from './recovery.ts';
import { afterStallStep } from './stall/next-step.ts';
import { stallUnit } from './stall.ts';
import { normalRun } from './start-run.ts';
import type { Facts, Run, RunEvidence, Task } from './state.ts';
import { isRecomposing } from './tree.ts';

/** What a run said stands in the event of its stall, too, and in all that follows from it. */
const DETAIL_BYTES = 2 * 1024;

interface Ended {
  readonly task: Task;
  readonly run: Run;
  readonly result: RunResult;
}

/** What an executor's answer leads to. A good one waits for its judgement. */
export const endRun = (command: EndRun, turn: Turn): Facts => {
  const { result } = command;
  const flight = inFlight(turn.state, result.task, result.run);
  if (flight === null) return [];
  const ended = { ...flight, result };
  if (result.firewall_broken !== null) return firewallBroken(turn, ended, result.firewall_broken);
  switch (result.outcome) {
    case 'satisfied':
    case 'degraded':
      return [];
    case 'unmet':
      return unmet(turn, ended);
    case 'indeterminate':
      return indeterminate(turn, ended);
    case 'faulted':
    case 'cancelled':
      return faulted(turn, ended);
    default:
      return result.outcome satisfies never;
  }
};

const unmet = (turn: Turn, ended: Ended): Facts => {
  if (isLanding(ended.run.kind)) return landingFailed(turn, ended);
  return ended.run.kind === 'normal' ? runUnmet(turn, ended) : checkUnmet(turn, ended);
};

const firewallBroken = (turn: Turn, { task, result }: Ended, detail: string): Facts => {
  const stop = { task, run: result.run, haltType: 'blocker', rawHaltType: 'firewall', verdicts: [], detail } as const;
  return block(turn, stop);
};

/** A run that nobody cancelled in this version was stopped by its executor. */
const faulted = (turn: Turn, { task, run, result }: Ended): Facts =>
  recordFault(
    turn,
    { task, run },
    {
      phase: 'action',
      class: result.fault_class ?? (result.outcome === 'cancelled' ? 'shutdown' : 'internal'),
      retryAfterMs: result.provider_fault?.retry_after_ms ?? 0,
      provider: result.provider_fault?.provider ?? null,
      detail: result.detail,
      result: null,
      effects: 'none',
    },
  );

const runUnmet = (turn: Turn, ended: Ended): Facts => {
  const { task, result } = ended;
  if (task.kind === 'fix') return fixFailed(turn, ended);
  const stalledBySame = sameAsBefore(task.node.lastNormal, result);
  return counted(turn, ended, (later, counted) => {
    if (isRecomposing(later.state, counted)) return notAssembled(later, counted, result);
    const bound = executeBound(counted.node.counters.execute, withGrants(boundsOf(later, counted), counted));
    if (bound.allowed && !stalledBySame) return nextRun(later, counted, normalRun(counted, 'again'));
    const { limit, used } = bound;
    const halt = { halt_type: 'unmet' as const, raw_halt_type: stalledBySame ? 'no_progress' : 'execute' };
    const detail = bounded(result.detail, DETAIL_BYTES, 'the whole is in the result of the run');
    return stallUnit(later, counted, { run: result.run, counter: 'execute', limit, used, detail, ...halt });
  });
};

const notAssembled = (turn: Turn, unitTask: Task, { run, workspace_ref, exit_code, recipe_hash }: RunResult): Facts => {
  const tree = workspace_ref?.tree ?? null;
  const signature = tree === null ? null : contentHash({ tree, exit_code, recipe_hash });
  return recomposeFailed(turn, unitTask, { run, signature, reason: 'unmet' });
};

/** Equal tree, exit code and recipe: doing it once more can only show the same. Nothing is known without a tree. */
const sameAsBefore = (before: RunEvidence | null, { workspace_ref, exit_code, recipe_hash }: RunResult): boolean =>
  before !== null &&
  workspace_ref !== null &&
  before.ref?.tree === workspace_ref.tree &&
  before.exitCode === exit_code &&
  before.recipeHash === recipe_hash;

/** Not met on this ref, or by an agent: a unit that already stalled goes its way, any other does the work. */
const checkUnmet = (turn: Turn, ended: Ended): Facts => {
  const { task } = ended;
  if (task.kind === 'fix' && !executeBoundInFix(task.node.counters.execute).allowed) {
    return fixFailed(turn, ended);
  }
  return counted(turn, ended, (later, counted) => afterUnmetCheck(later, counted, ended));
};

const afterUnmetCheck = (turn: Turn, task: Task, { result: { run, detail } }: Ended): Facts => {
  const { resolving, stall } = unitOf(turn.state, task);
  if (resolving) return notResolved(turn, task, { run, detail, verdicts: [] });
  return stall === null ? nextRun(turn, task, normalRun(task, 'again')) : afterStallStep(turn, task);
};

/** A fix's own check is its validator: what it leaves unmet is that validator's blocker, without findings. */
const fixFailed = (turn: Turn, ended: Ended): Facts => {
  const { task, result, run } = ended;
  const validator = validatorOf(task);
  const verdict = { validator, severity: 'blocker' as const, criteria: [], evidence_hash: contentHash([]) };
  const ref = result.workspace_ref ?? run.startRef;
  const signature = judgementSignature([verdict], ref?.tree ?? null);
  const repeated = isRepeated(turn, task, signature);
  const said = [{ validator, severity: 'blocker', justification: result.detail }];
  const failure = { run: result.run, triggering: [validator], said, signature, repeated, ref };
  const fact = countRun(turn, ended, { ...NOT_JUDGED, signature, result });
  return followedBy(turn, [fact], (later) => recover(later, taskOf(later.state, task.id), failure));
};

/** The check could not run: tried again after a while on what the run left, then the infrastructure is somebody's. */
const indeterminate = (turn: Turn, ended: Ended): Facts => {
  const { result } = ended;
  const failures = countersAfter(turn, ended, { result, unfixable: false }).indeterminate;
  if (indeterminateBound(failures, boundsOf(turn, ended.task)).allowed) {
    const nextAt = after(turn.now, backoffMs(turn.mode, 'indeterminate', failures));
    return [countRun(turn, ended, { ...NOT_JUDGED, nextAt, result })];
  }
  const cause = { haltType: 'environment_error', rawHaltType: 'indeterminate', help: 'infrastructure' } as const;
  return counted(turn, ended, (later, counted) =>
    handOff(later, counted, { ...NO_FINDINGS, ...cause, detail: result.detail, run: result.run }),
  );
};

const counted = (turn: Turn, ended: Ended, next: (later: Turn, counted: Task) => Facts): Facts =>
  followedBy(turn, [countRun(turn, ended, { ...NOT_JUDGED, result: ended.result })], (later) =>
    next(later, taskOf(later.state, ended.task.id)),
  );
