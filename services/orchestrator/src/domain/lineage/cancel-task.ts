import { Refused } from '@fixpoint/decider/refused';
import type { CancelTask } from './commands.ts';
import { endUnit } from './end-unit.ts';
import { holdEpic } from './epics/hold.ts';
import { followedBy, type Turn, taskOf } from './lookup.ts';
import type { Facts } from './state.ts';
import { isLive } from './tree.ts';

/**
 * Somebody wants no more of a unit. It wins over whatever is under way: an answer that comes later finds nothing it could
 * be for. Asked again, it changes nothing.
 */
export const cancelTask = ({ task: id, reason }: CancelTask, turn: Turn): Facts => {
  const task = taskOf(turn.state, id);
  if (task.kind === 'fix') throw new Refused('task_not_a_unit', task.address);
  if (task.status === 'cancelled') return [];
  if (!isLive(task)) throw new Refused('task_already_ended', task.status);
  return followedBy(turn, endUnit(turn, task, { type: 'task_cancelled', reason }), (later) => holdEpic(later, task));
};
