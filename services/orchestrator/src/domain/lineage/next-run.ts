import { boundsOf } from './budget/effective-bounds.ts';
import { withGrants } from './granted.ts';
import { iterationsBound } from './limits.ts';
import { type Turn, unitOf } from './lookup.ts';
import { exhaust } from './recovery.ts';
import type { RunPlan } from './run-plan.ts';
import { afterStallStep } from './stall/next-step.ts';
import { stallUnit } from './stall.ts';
import { start } from './start-run.ts';
import type { Facts, Task } from './state.ts';

/** Another run of the current node, unless its iterations are used up: then the unit stalls, a fix ends its closure. */
export const nextRun = (turn: Turn, task: Task, plan: RunPlan): Facts => {
  const bound = iterationsBound(task.node.counters.iterations, withGrants(boundsOf(turn, task), task));
  if (bound.allowed) return start(turn, task, plan);
  if (task.kind === 'fix') {
    const failure = { run: Math.max(1, task.runs), triggering: task.triggering };
    return exhaust(turn, task, { reason: 'iterations', bound, failure });
  }
  if (unitOf(turn.state, task).stall !== null) return afterStallStep(turn, task);
  const { limit, used } = bound;
  const halt = { halt_type: 'unmet' as const, raw_halt_type: 'iterations' };
  return stallUnit(turn, task, { run: Math.max(1, task.runs), counter: 'iterations', limit, used, ...halt });
};
