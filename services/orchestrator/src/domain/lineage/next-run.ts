import { type Turn, unitOf } from './lookup.ts';
import { exhaust } from './recovery.ts';
import type { RunPlan } from './run-plan.ts';
import { afterStallStep } from './stall/next-step.ts';
import { stallUnit } from './stall.ts';
import { start } from './start-run.ts';
import type { Facts, Task } from './state.ts';
import { isRecomposing } from './tree.ts';
import { EVERY_RUN, ORDINARY, usedUpAt } from './used-up.ts';

/**
 * Another run of the current node, unless what it would add to is used up: then the unit stalls, a fix ends its closure. A
 * check adds to the iterations alone; what it leaves unmet may still have no room for the recipe.
 */
export const nextRun = (turn: Turn, task: Task, plan: RunPlan): Facts => {
  const isOrdinary = plan.kind === 'normal' && task.kind !== 'fix' && !isRecomposing(turn.state, task);
  const counters = isOrdinary ? ORDINARY : EVERY_RUN;
  const full = usedUpAt(turn, task, { nodeIndex: task.nodeIndex, counters });
  if (full === null) return start(turn, task, plan);
  const run = Math.max(1, task.runs);
  if (task.kind === 'fix') {
    const failure = { run, triggering: task.triggering };
    const bound = { ...full, allowed: false, asked: full.used + 1 };
    return exhaust(turn, task, { reason: 'iterations', bound, failure });
  }
  if (unitOf(turn.state, task).stall !== null) return afterStallStep(turn, task);
  return stallUnit(turn, task, { ...full, run, halt_type: 'unmet', raw_halt_type: full.counter });
};
