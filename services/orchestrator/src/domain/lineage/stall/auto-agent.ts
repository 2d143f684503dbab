import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { NodeReady } from '@fixpoint/contracts/events/lineage-events';
import type { RunKind } from '@fixpoint/contracts/events/run-kind';
import { boundedBrief, jsonBytes } from '../bounded.ts';
import { boundsOf } from '../budget/effective-bounds.ts';
import { agentBound } from '../limits.ts';
import { nodeOf, startOf, type Turn, unitOf } from '../lookup.ts';
import type { Task } from '../state.ts';

/** The model that may act as an agent on this unit: the mode's, else the node's; null when it can not act as one. */
const agentModel = ({ mode, agentModels = [] }: Turn, unitTask: Task): string | null => {
  if (unitTask.nodes.length === 0) return null;
  const named = mode.auto_agent_model ?? nodeOf(unitTask).model;
  return agentModels.includes(named) ? named : null;
};

/** What the stall says about the first step of its pipeline. */
export const autoAgentOf = (turn: Turn, unitTask: Task): EventNamed<'task_stalled'>['data']['auto_agent'] => {
  const model = agentModel(turn, unitTask);
  if (model === null) return { outcome: 'skipped', reason: 'no_model' };
  const { limit, used } = agentBound(unitOf(turn.state, unitTask).agentAttempts, boundsOf(turn, unitTask));
  if (limit === 0) return { outcome: 'skipped', reason: 'not_wanted' };
  return used < limit
    ? { outcome: 'available', model, attempts: limit - used }
    : { outcome: 'skipped', reason: 'used_up' };
};

/** Whether an agent may have another try. */
export const agentMayTry = (turn: Turn, unitTask: Task): boolean => autoAgentOf(turn, unitTask).outcome === 'available';

/** What a human is told of it; null when the unit has not stalled. */
export const agentTold = (turn: Turn, unitTask: Task): string | null => {
  const unit = unitOf(turn.state, unitTask);
  if (unit.stall === null) return null;
  const { limit, used } = agentBound(unit.agentAttempts, turn.mode.bounds);
  const step = autoAgentOf(turn, unitTask);
  if (step.outcome === 'skipped' && used === 0) return `skipped: ${step.reason}`;
  return `tried: ${used} of ${limit}`;
};

/** What an agent is told beside its node: the whole stall. Empty for every other kind of run. */
export const toldToAgent = (turn: Turn, task: Task, kind: RunKind): Pick<NodeReady, 'stalled' | 'brief'> => {
  const unit = unitOf(turn.state, task);
  const model = agentModel(turn, task);
  if (kind !== 'agent' || unit.stall === null || model === null) return { brief: task.brief };
  const { counter, haltType: halt_type, rawHaltType: raw_halt_type, detail } = unit.stall;
  const { asked: attempt, limit: attempts } = agentBound(unit.agentAttempts, boundsOf(turn, task));
  const said = { validator: counter, severity: 'blocker', justification: detail };
  const brief = { intent: turn.state.intent, justifications: [said], prior_failures: [...unit.failures] };
  return {
    brief: boundedBrief(brief, jsonBytes([nodeOf(task), turn.state.intent, detail])),
    stalled: { counter, halt_type, raw_halt_type, detail, attempt, attempts, model, diff: diffSoFar(task) },
  };
};

/** Where the last run that did something ended: what there is of the work, good or bad. */
export const diffSoFar = (task: Task): Task['accepted'] => task.node.lastWork?.ref ?? startOf(task);
