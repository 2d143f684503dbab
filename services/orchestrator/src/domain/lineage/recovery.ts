import { fixAddress, taskIdAt } from '@fixpoint/contracts/addresses';
import { contentHash } from '@fixpoint/contracts/content-hash';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { Brief } from '@fixpoint/contracts/events/recovery-events';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { boundedBrief, jsonBytes } from './bounded.ts';
import { boundsOf } from './budget/effective-bounds.ts';
import { fixNodes } from './fix-nodes.ts';
import { type BoundAnswer, depthBound, fixBound } from './limits.ts';
import { followedBy, nodeOf, refOf, type Turn, taskOf, unitOf, unitTaskOf } from './lookup.ts';
import { type StallReason, stallUnit } from './stall.ts';
import { normalRun, start } from './start-run.ts';
import type { Facts, Task } from './state.ts';

/** A judgement (or a fix's own check) that objects. */
export interface Failure {
  readonly run: number;
  readonly triggering: readonly string[];
  readonly said: Brief['justifications'];
  readonly signature: string;
  /** The same was said of the same tree before, along the chain or at this task. */
  readonly repeated: boolean;
  readonly ref: WorkspaceRef | null;
}

/** Whether this judgement was already made of this task or of one above it, up to the unit. */
export const isRepeated = (turn: Turn, task: Task, signature: string): boolean => {
  if (task.signatures.includes(signature)) return true;
  return task.parent !== null && task.unit !== task.id && isRepeated(turn, taskOf(turn.state, task.parent), signature);
};

/** Spawns the next fix, or ends the closure: stalled before any budget is looked at, then depth, then attempts. */
export const recover = (turn: Turn, task: Task, failure: Failure): Facts => {
  if (failure.repeated) return endStalled(turn, task, failure);
  const bounds = boundsOf(turn, task);
  const nodes = fixNodes(turn.mode, failure.triggering);
  if (nodes.length === 0) return exhaust(turn, task, { reason: 'no_fix', ...uncharged(turn, task), failure });
  const depth = depthBound(task.depth - unitTaskOf(turn.state, task).depth, bounds);
  if (!depth.allowed) return exhaust(turn, task, { reason: 'max_recovery_depth', bound: depth, failure });
  const attempts = fixBound(unitOf(turn.state, task).fixAttempts, bounds);
  if (!attempts.allowed) {
    return exhaust(turn, task, { reason: 'max_total_fix_attempts', bound: attempts, failure });
  }
  return spawn(turn, task, { failure, nodes, attempts });
};

interface Spawn {
  readonly failure: Failure;
  readonly nodes: Spawned['nodes'];
  readonly attempts: BoundAnswer;
}

type Spawned = EventNamed<'subtask_spawned'>['data'];

const spawn = (turn: Turn, task: Task, plan: Spawn): Facts => {
  const address = fixAddress(task.address, task.fixes + 1);
  const id = taskIdAt(turn.state.root, address);
  const spawned: LineageEvent = { type: 'subtask_spawned', data: spawnedFix(turn, task, { ...plan, id, address }) };
  return followedBy(turn, [spawned], (after) => {
    const fix = taskOf(after.state, id);
    return start(after, fix, normalRun(fix, 'first'));
  });
};

const spawnedFix = (
  turn: Turn,
  task: Task,
  { failure, nodes, attempts, id, address }: Spawn & { readonly id: string; readonly address: string },
): Spawned => ({
  root: turn.state.root,
  parent_ref: task.id,
  task_ref: id,
  address,
  unit: task.unit,
  scope: turn.state.scope,
  depth: task.depth + 1,
  recovery_depth: task.depth + 1 - unitTaskOf(turn.state, task).depth,
  fix_attempts: attempts.asked,
  triggering_validators: [...failure.triggering],
  nodes,
  spec_hash: contentHash(nodes),
  brief: briefOf(turn, task, { failure, nodes }),
  judged_run: failure.run,
  workspace_ref: failure.ref,
  signature: failure.signature,
  auto_decomposed: false,
});

/** The root's intent, once and verbatim; what objects now; and all that failed before in this closure. */
const briefOf = (turn: Turn, task: Task, { failure, nodes }: Pick<Spawn, 'failure' | 'nodes'>): Brief => {
  const brief = {
    intent: turn.state.intent,
    justifications: [...failure.said],
    prior_failures: [...unitOf(turn.state, task).failures],
  };
  // The run's own event carries the intent once more beside its node.
  return boundedBrief(brief, jsonBytes(nodes) + jsonBytes(turn.state.intent));
};

type Exhausted = EventNamed<'recovery_exhausted'>['data'];

interface Exhaustion {
  readonly reason: Exhausted['reason'];
  readonly bound: BoundAnswer;
  readonly failure: Pick<Failure, 'run' | 'triggering'>;
  /** The exact cause where it is not the reason itself. */
  readonly cause?: string;
}

/** Nothing is charged where nothing could be tried. */
const uncharged = (turn: Turn, task: Task): { bound: BoundAnswer } => {
  const { limit, used } = fixBound(unitOf(turn.state, task).fixAttempts, boundsOf(turn, task));
  return { bound: { allowed: false, limit, used, asked: used } };
};

/** Ends the closure for want of budget or of a way to fix, with all its open fixes; the unit stalls in the same append. */
export const exhaust = (turn: Turn, task: Task, why: Exhaustion): Facts => {
  const { limit, used, asked } = why.bound;
  const halt = { halt_type: 'recovery_exhausted' as const, raw_halt_type: why.cause ?? why.reason };
  const exhausted: LineageEvent = {
    type: 'recovery_exhausted',
    data: { ...closureEnd(turn, task, why.failure), ...halt, reason: why.reason, limit, used, asked },
  };
  const counter = counterOf(why.reason, task);
  const count = counter === 'judge' ? judgeCount(turn, task) : { limit, used };
  return endClosure(turn, task, { ended: exhausted, reason: { run: why.failure.run, counter, ...count, ...halt } });
};

const judgeCount = (turn: Turn, task: Task) => ({ limit: boundsOf(turn, task).judge, used: task.node.counters.judge });

const counterOf = (reason: Exhausted['reason'], task: Task) => {
  if (reason === 'max_total_fix_attempts') return 'fix';
  return reason === 'no_fix' && task.kind !== 'fix' ? 'judge' : 'recovery';
};

const endStalled = (turn: Turn, task: Task, failure: Failure): Facts => {
  const { fixAttempts } = unitOf(turn.state, task);
  const halt = { halt_type: 'recovery_stalled' as const, raw_halt_type: 'recovery_stalled' };
  const stalled: LineageEvent = {
    type: 'recovery_stalled',
    data: {
      ...closureEnd(turn, task, failure),
      ...halt,
      signature: failure.signature,
      attempts_used: fixAttempts,
    },
  };
  const limit = boundsOf(turn, task).max_total_fix_attempts;
  const reason = { run: failure.run, counter: 'recovery' as const, limit, used: fixAttempts, ...halt };
  return endClosure(turn, task, { ended: stalled, reason });
};

const closureEnd = (turn: Turn, task: Task, { triggering }: Pick<Failure, 'triggering'>) => ({
  ...refOf(turn.state, unitTaskOf(turn.state, task)),
  depth: task.depth - unitTaskOf(turn.state, task).depth,
  triggering_validators: [...triggering],
  ended_tasks: openFixes(turn, task.unit),
});

/** Fixes of a unit that are neither done nor ended. */
export const openFixes = (turn: Turn, unit: string): string[] =>
  Object.values(turn.state.tasks)
    .filter((task) => task.unit === unit && task.kind === 'fix' && task.status === 'open')
    .map((task) => task.id);

interface ClosureEnd {
  readonly ended: LineageEvent;
  readonly reason: StallReason;
}

const endClosure = (turn: Turn, task: Task, { ended, reason }: ClosureEnd): Facts =>
  followedBy(turn, [ended], (after) => {
    const unitTask = unitTaskOf(after.state, task);
    // The slice of the stall is the unit's own run; a fix's number would name a run of another task.
    const run = task.id === unitTask.id ? reason.run : Math.max(1, unitTask.runs);
    return stallUnit(after, unitTask, { ...reason, run });
  });

/** Halt, escalation or a blocker that only a human may lift: a fix that meets one ends its closure. */
export const endBlockedFix = (
  turn: Turn,
  { task, run, cause }: { readonly task: Task; readonly run: number; readonly cause: string },
): Facts => {
  const failure = { run, triggering: task.triggering };
  return exhaust(turn, task, { reason: 'fix_blocked', cause, failure, ...uncharged(turn, task) });
};

/** The validator whose fix the current node of a fix task is. */
export const validatorOf = (task: Task): string => nodeOf(task).id;
