import type { SweepUnit } from '../commands.ts';
import { resumeUnit } from '../enter-node.ts';
import type { Turn } from '../lookup.ts';
import type { Facts } from '../state.ts';

/** Looks whether a unit waits for nothing any more, and does what a handler would have done then: else nothing. */
export const sweepUnit = ({ task: id }: SweepUnit, turn: Turn): Facts => {
  const task = turn.state.tasks[id];
  // After the deadline nothing starts, whoever looks.
  return task === undefined || turn.state.deadlinePassed ? [] : resumeUnit(turn, task);
};
