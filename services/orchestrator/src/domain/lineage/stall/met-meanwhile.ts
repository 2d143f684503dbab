import { boundsOf } from '../budget/effective-bounds.ts';
import { withGrants } from '../granted.ts';
import { iterationsBound } from '../limits.ts';
import type { Turn } from '../lookup.ts';
import { hasCheck } from '../start-run.ts';
import type { Admitted, Task } from '../state.ts';
import { epicOfChild } from '../tree.ts';

/**
 * Where to look whether somebody else has met the goal, as long as the unit has nothing of its own to lose by it: a child in
 * what its siblings have landed, a root in its source as it is now. Else in the accepted work alone.
 */
export const meanwhileRef = (state: Admitted, task: Task): Task['accepted'] => {
  const { accepted } = task;
  const epic = epicOfChild(state, task);
  if (epic !== null) return hasOwn(accepted, task.baseRef) ? accepted : epic.ref;
  return task.kind === 'root' && state.source !== null && isAsFetched(accepted) ? null : accepted;
};

const hasOwn = (accepted: Task['accepted'], base: Task['baseRef']): boolean =>
  accepted !== null && accepted.tree !== base?.tree;

/** Nothing was added to what was fetched from the source. */
const isAsFetched = (accepted: Task['accepted']): boolean =>
  accepted === null || (accepted.base === accepted.head && accepted.head === accepted.commit);

/** A check that is there, within its bound, and not just answered for the same tree. */
export const canBeMetMeanwhile = (turn: Turn, task: Task): boolean => {
  if (task.nodes.length === 0 || !hasCheck(task)) return false;
  const { last, counters } = task.node;
  if (!iterationsBound(counters.iterations, withGrants(boundsOf(turn, task), task)).allowed) return false;
  if (meanwhileRef(turn.state, task) !== task.accepted) return true;
  return !(last?.outcome === 'unmet' && last.ref !== null && last.ref.tree === task.accepted?.tree);
};
