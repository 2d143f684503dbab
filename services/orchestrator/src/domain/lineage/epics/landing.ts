import type { Turn } from '../lookup.ts';
import { unitOf } from '../lookup.ts';
import type { RunPlan } from '../run-plan.ts';
import { start } from '../start-run.ts';
import type { Admitted, Epic, Facts, Task } from '../state.ts';

export const isIdle = (task: Task): boolean => task.current === null && task.queued === null && task.retry === null;

/** All nodes of a child are done, and nothing of it is on its way into its epic. */
export const waitsToLand = (state: Admitted, task: Task): boolean => {
  if (task.kind !== 'child' || task.status !== 'open' || !isIdle(task)) return false;
  const isDone = task.nodeDone && task.nodeIndex >= task.nodes.length - 1;
  return (isDone || task.landing === 'integrate') && unitOf(state, task).handoff === null;
};

/** One merge at a time: two would each be made into a ref without the other. */
export const isFree = (state: Admitted, epic: Epic): boolean =>
  epic.children.every(({ task: id }) => {
    const child = state.tasks[id];
    return child?.landing !== 'integrate' || child.status !== 'open' || isIdle(child);
  });

/** Equal trees are equal content, and what left no workspace left nothing. */
export const leavesNothing = ({ accepted, baseRef }: Task, epic: Epic): boolean =>
  accepted === null || accepted.tree === baseRef?.tree || accepted.tree === epic.ref?.tree;

/** The merge of a verified child into the ref of its epic. */
export const integrate = (turn: Turn, child: Task, epic: Epic): Facts =>
  start(turn, child, { ...landingPlan(child, 'integrate'), ref: epic.ref });

/** The result of a root on its way to where its document wants it. */
export const deliver = (turn: Turn, root: Task): Facts =>
  start(turn, root, { ...landingPlan(root, 'deliver'), ref: root.accepted });

const landingPlan = (task: Task, kind: 'integrate' | 'deliver'): Omit<RunPlan, 'ref'> => ({
  kind,
  purpose: 'landing',
  judges: null,
  nodeIndex: lastDone(task),
});

/** The check of what lands is that of the last node that was done: a skipped one says nothing of the work. */
const lastDone = ({ nodes, results }: Task): number =>
  Math.max(
    0,
    nodes.findLastIndex(({ id }) => results[id]?.outcome !== 'skipped'),
  );
