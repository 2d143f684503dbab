import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { type Ending, rolledUp, taskCompleted, unitClosed, verifiedEnding } from './epics/closing.ts';
import { askAboutEmpty } from './epics/hold.ts';
import { deliver, integrate, isFree, isIdle, leavesNothing, waitsToLand } from './epics/landing.ts';
import { assemble, startRecompose } from './epics/recompose.ts';
import { firstRun, lacksData, withValues } from './first-run.ts';
import { followedBy, refOf, startOf, type Turn, taskOf } from './lookup.ts';
import { nextRun } from './next-run.ts';
import { dataOf } from './node-data.ts';
import type { RunPlan } from './run-plan.ts';
import { stallUnit } from './stall.ts';
import { checkRun, normalRun } from './start-run.ts';
import type { Epic, Facts, Task } from './state.ts';
import { epicOfChild, isRecomposing, leftIn, submittedLeft } from './tree.ts';
import { ORDINARY, usedUpAt } from './used-up.ts';

/** The first run of a node, or of the next one that is not skipped; after the last node the task is landed and complete. */
export const enterNode = (turn: Turn, task: Task, nodeIndex: number): Facts => {
  if (waitsForSubmitted(turn, task, nodeIndex)) return [];
  const node = task.nodes[nodeIndex];
  if (node === undefined) return finishTask(turn, task);
  const plan = { ...normalRun(task, task.runs === 0 ? 'first' : 'next_node'), ref: beginOf(turn, task), nodeIndex };
  if (node.if === undefined) return beginNode(turn, task, plan);
  const answer = turn.askCondition(node.if, dataOf(task));
  if ('detail' in answer)
    return lacksData(turn, { ...task, nodeIndex }, { rawHaltType: 'condition_unanswered', ...answer });
  return answer.holds ? beginNode(turn, task, plan) : skip(turn, task, { node, nodeIndex, condition: node.if });
};

/** Work that a run submitted is data for the nodes behind its own, and part of the end: the node itself is run again without it. */
const waitsForSubmitted = ({ state }: Turn, task: Task, nodeIndex: number): boolean =>
  task.kind !== 'fix' && nodeIndex > task.nodeIndex && submittedLeft(state, task.id).length > 0;

/**
 * A node that the task comes back to has counted before, and what it counted stands: without room for another run the unit
 * stalls there, so that its check alone is asked first; in a recompose that is a human's.
 */
const beginNode = (turn: Turn, task: Task, plan: RunPlan): Facts => {
  if (isRecomposing(turn.state, task)) return assemble(turn, task, plan);
  const { nodeIndex } = plan;
  const full = task.kind === 'fix' ? null : usedUpAt(turn, task, { nodeIndex, counters: ORDINARY });
  if (full === null) return firstRun(turn, task, plan);
  const halt = { halt_type: 'unmet', raw_halt_type: full.counter, node_index: nodeIndex, run: task.runs } as const;
  return withValues(turn, { ...task, nodeIndex }, () => stallUnit(turn, task, { ...full, ...halt }));
};

/** A child begins with what its siblings have landed by then. */
const beginOf = ({ state }: Turn, task: Task): Task['accepted'] =>
  startOf(task) ?? (task.runs === 0 ? (epicOfChild(state, task)?.ref ?? null) : null);

interface Skip {
  readonly node: NodeSpec;
  readonly nodeIndex: number;
  readonly condition: string;
}

const skip = (turn: Turn, task: Task, { node, nodeIndex, condition }: Skip): Facts => {
  const skipped: LineageEvent = {
    type: 'node_skipped',
    data: { ...refOf(turn.state, task), node_id: node.id, node_index: nodeIndex, condition, runs: task.runs },
  };
  return followedBy(turn, [skipped], (after) => enterNode(after, taskOf(after.state, task.id), nodeIndex + 1));
};

/** All nodes are done: what they left is brought where it belongs, and then the task is complete. */
const finishTask = (turn: Turn, task: Task): Facts => {
  if (task.kind === 'fix') return finishFix(turn, task);
  const epic = epicOfChild(turn.state, task);
  if (epic !== null && epic.kind !== 'submitted') return land(turn, task, epic);
  const isDelivered = task.kind !== 'root' || turn.state.deliver === null || task.accepted === null;
  return isDelivered ? closeUnit(turn, task) : deliver(turn, task);
};

const finishFix = (turn: Turn, fix: Task): Facts => {
  const completed = taskCompleted(turn, fix, verifiedEnding(turn.state, fix));
  return followedBy(turn, [completed], (after) => recheck(after, taskOf(after.state, fix.parent ?? '')));
};

/** A parent never trusts its fix: its own node is checked again on what the fix left, and judged in full. */
const recheck = (turn: Turn, parent: Task): Facts =>
  nextRun(turn, parent, checkRun(parent, 'after_fix', startOf(parent)));

/** A child that is done waits until no sibling is being merged. */
const land = (turn: Turn, child: Task, epic: Epic): Facts => {
  if (leavesNothing(child, epic)) return closeUnit(turn, child);
  return isFree(turn.state, epic) ? integrate(turn, child, epic) : [];
};

/** A unit is done; whoever waited for it goes on, any number of levels up. */
export const closeUnit = (turn: Turn, task: Task, ending: Ending = verifiedEnding(turn.state, task)): Facts =>
  followedBy(turn, unitClosed(turn, task, ending), (after) =>
    task.parent === null ? [] : resumeUnit(after, taskOf(after.state, task.parent)),
  );

/**
 * What follows for a unit that nothing runs for, by what its children have come to: the next merge, the recompose, the
 * rollup, the next node. Nothing, when somebody or something is still waited for.
 */
export const resumeUnit = (turn: Turn, task: Task): Facts => {
  const epic = task.epic === null ? undefined : turn.state.epics[task.epic];
  if (task.status === 'superseded' && epic !== undefined) return followEpic(turn, task, epic);
  if (task.status !== 'open' || !isIdle(task) || turn.state.units[task.unit]?.handoff !== null) return [];
  if (task.landing === 'deliver') return deliver(turn, task);
  if (task.landing === 'integrate') return enterNode(turn, task, task.nodes.length);
  if (task.nodeDone) return enterNode(turn, task, task.nodeIndex + 1);
  return task.runs === 0 ? enterNode(turn, task, 0) : [];
};

const followEpic = (turn: Turn, unitTask: Task, epic: Epic): Facts => {
  const left = leftIn(epic);
  if (left.length > 0) return landNext(turn, epic);
  if (!epic.children.some(({ state }) => state === 'resolved')) return askAboutEmpty(turn, unitTask, epic);
  if (epic.closesBy === 'recompose') return startRecompose(turn, unitTask);
  return closeUnit(turn, unitTask, rolledUp(turn.state, unitTask, epic));
};

const landNext = (turn: Turn, epic: Epic): Facts => {
  if (!isFree(turn.state, epic)) return [];
  const next = leftIn(epic)
    .map(({ task }) => taskOf(turn.state, task))
    .find((child) => waitsToLand(turn.state, child));
  return next === undefined ? [] : land(turn, next, epic);
};

/** However the merge of a child ends (a human, a halt), the next one that waits has its turn in the same append. */
export const landWaiting = (turn: Turn, facts: Facts): Facts => {
  const epics = Object.values(turn.state.epics).filter(({ closed, kind }) => !closed && kind !== 'submitted');
  if (facts.length === 0 || epics.length === 0) return facts;
  return followedBy(turn, facts, (later) =>
    epics.flatMap(({ id, task }) => {
      const epic = later.state.epics[id];
      return epic !== undefined && taskOf(later.state, task).status === 'superseded' ? landNext(later, epic) : [];
    }),
  );
};

/** A child whose work can not be merged runs again from the merge; one that was split is recomposed there. */
export const runAgain = (turn: Turn, task: Task): Facts =>
  task.epic === null ? enterNode(turn, task, 0) : startRecompose(turn, task);
