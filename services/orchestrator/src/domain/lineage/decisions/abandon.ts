import { endUnit } from '../end-unit.ts';
import { holdEpic } from '../epics/hold.ts';
import { followedBy, type Turn } from '../lookup.ts';
import type { Facts, Handoff, Task } from '../state.ts';

/** Given up, with everything that is open below it; an epic that waited for it is held. */
export const abandonUnit = (
  turn: Turn,
  unitTask: Task,
  { handoff, reason }: { readonly handoff: Handoff; readonly reason: string },
): Facts => {
  const ended = endUnit(turn, unitTask, { type: 'task_abandoned', handoff: handoff.id, reason });
  return followedBy(turn, ended, (later) => holdEpic(later, unitTask));
};
