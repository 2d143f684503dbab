import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { boundsOf } from '../budget/effective-bounds.ts';
import { councilRequest } from '../council-request.ts';
import { withGrants } from '../granted.ts';
import { iterationsBound } from '../limits.ts';
import { followedBy, refOf, startOf, type Turn, taskOf, unitOf } from '../lookup.ts';
import type { RunPlan } from '../run-plan.ts';
import { checkRun, start } from '../start-run.ts';
import type { Facts, Task } from '../state.ts';
import { agentMayTry } from './auto-agent.ts';
import { EXCLUDED, type Exclusion, exclusionOf } from './exclusions.ts';
import { floor } from './floor.ts';
import { canBeMetMeanwhile, meanwhileRef } from './met-meanwhile.ts';
import { splitBudget } from './split-budget.ts';

/**
 * What comes next for a stalled unit. Before each question to a model it is checked whether the goal is met by now; then
 * an agent tries, within its bound; then the council is asked, unless something excludes a split; the end is a human.
 */
export const afterStallStep = (turn: Turn, unitTask: Task): Facts => {
  const { stall, handoff } = unitOf(turn.state, unitTask);
  if (handoff === null && stall?.checked !== true && canBeMetMeanwhile(turn, unitTask)) {
    return start(turn, unitTask, checkRun(unitTask, 'met_meanwhile', meanwhileRef(turn.state, unitTask)));
  }
  if (handoff === null && agentMayTry(turn, unitTask) && hasIterations(turn, unitTask)) {
    return start(turn, unitTask, agentRun(unitTask));
  }
  const reason = exclusionOf(turn, unitTask);
  return reason === null ? [councilRequest(turn, unitTask)] : exclude(turn, unitTask, reason);
};

/** Rung 4 alone, from where every retry starts. */
const agentRun = (unitTask: Task): RunPlan => ({
  kind: 'agent',
  purpose: 'auto_agent',
  ref: startOf(unitTask),
  judges: null,
  nodeIndex: unitTask.nodeIndex,
});

const hasIterations = (turn: Turn, task: Task): boolean =>
  iterationsBound(task.node.counters.iterations, withGrants(boundsOf(turn, task), task)).allowed;

const exclude = (turn: Turn, unitTask: Task, reason: Exclusion): Facts => {
  const excluded: LineageEvent = {
    type: 'split_excluded',
    data: { ...refOf(turn.state, unitTask), reason, budget: { ...splitBudget(turn, unitTask) } },
  };
  return followedBy(turn, [excluded], (later) =>
    floor(later, taskOf(later.state, unitTask.id), { detail: `not split: ${EXCLUDED[reason]}`, council: null }),
  );
};
