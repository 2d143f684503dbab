import { boundsOf } from '../budget/effective-bounds.ts';
import type { Turn } from '../lookup.ts';
import type { Task } from '../state.ts';

export interface SplitBudget {
  readonly children_left: number;
  readonly depth_left: number;
}

/** What a split of this unit may still make. Source: docs/rules.md (Counters). */
export const splitBudget = (turn: Turn, unitTask: Task): SplitBudget => {
  const bounds = boundsOf(turn, unitTask);
  return {
    children_left: Math.max(0, bounds.max_total_decomposition_children - turn.state.childrenUsed),
    depth_left: Math.max(0, bounds.max_decomposition_depth - unitTask.splitDepth),
  };
};
