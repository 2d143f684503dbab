import type { DecisionOf } from '@fixpoint/contracts/human-decision';
import { Refused } from '@fixpoint/decider/refused';
import { councilRequest } from '../council-request.ts';
import { enterNode, resumeUnit } from '../enter-node.ts';
import { startRecompose } from '../epics/recompose.ts';
import { type Turn, taskOf } from '../lookup.ts';
import { start } from '../start-run.ts';
import type { Facts, Handoff, Task } from '../state.ts';
import { isRecomposing } from '../tree.ts';

type Retry = DecisionOf<'retry'>;

/** Where a retry begins: with the node that was named, else with the one that the handoff is about. */
export const retriedFrom = (unitTask: Task, { slice }: Handoff, { from_node: named }: Retry): number => {
  const wanted = named ?? (slice.task === unitTask.id ? slice.nodeId : null);
  if (wanted === null) return unitTask.nodeIndex;
  const index = unitTask.nodes.findIndex(({ id }) => id === wanted);
  if (index === -1) throw new Refused('node_unknown', wanted);
  const about = unitTask.nodes.findIndex(({ id }) => id === slice.nodeId);
  if (index > Math.max(unitTask.nodeIndex, about)) throw new Refused('node_not_reached', wanted);
  return index;
};

/** What stood still goes on: the same kind of run from the same place, or the question to the council. */
export const retryUnit = (
  turn: Turn,
  unitTask: Task,
  { handoff, decision }: { readonly handoff: Handoff; readonly decision: Retry },
): Facts => {
  if (unitTask.status !== 'open') throw new Refused('unit_superseded', 'its children do the work');
  if (isMoving(turn, unitTask)) throw new Refused('run_in_flight', 'what runs is still to be answered');
  if (unitTask.nodes.length === 0) return [councilRequest(turn, unitTask)];
  const goesOn = decision.from_node === null ? resumed(turn, unitTask, handoff) : null;
  return goesOn ?? enterNode(turn, unitTask, unitTask.nodeIndex);
};

/** Only what the machinery stopped, or what came after the nodes: after a stall the node is entered as at first. */
const resumed = (turn: Turn, unitTask: Task, handoff: Handoff): Facts | null => {
  const again = handoff.causes.some(({ stage }) => stage === 'infrastructure')
    ? pausedAgain(turn, unitTask, handoff)
    : null;
  if (again !== null) return again;
  // What is verified and has not landed is landed, and never done again for that.
  if (unitTask.landing !== null) return resumeUnit(turn, unitTask);
  return isRecomposing(turn.state, unitTask) ? startRecompose(turn, unitTask) : null;
};

/** What the handoff stopped, once more; null when it stopped nothing. */
export const pausedAgain = (turn: Turn, unitTask: Task, { paused }: Handoff): Facts | null => {
  if (paused.council) return [councilRequest(turn, unitTask)];
  const again = pausedPlan(paused);
  const task = taskOf(turn.state, paused.task);
  return again && start(turn, task, { ...again, nodeIndex: task.nodeIndex, basis: task.basis });
};

/** Something of the unit runs, or waits for its turn. */
export const isMoving = ({ state }: Turn, { id }: Task): boolean =>
  Object.values(state.tasks).some((task) => task.unit === id && (task.current !== null || task.queued !== null));

const pausedPlan = ({ queued, retry, run }: Handoff['paused']) => {
  if (queued !== null) return { ...queued, purpose: 'decided' as const };
  const from = retry ?? run;
  return from && { kind: from.kind, purpose: 'decided' as const, ref: from.startRef, judges: from.judges };
};
