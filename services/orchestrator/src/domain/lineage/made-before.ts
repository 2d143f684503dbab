import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { Lineage } from './state.ts';

const madeBy = (event: LineageEvent): string | undefined => {
  switch (event.type) {
    case 'task_submitted':
      return event.data.task;
    case 'subtask_spawned':
      return event.data.task_ref;
    case 'epic_opened':
      return event.data.children[0]?.task;
    case 'child_submitted':
      return event.data.child.task;
    default:
      return undefined;
  }
};

/** The event makes a task that is there already: heard once more, it would begin anew. */
export const isMadeBefore = (state: Lineage, event: LineageEvent): boolean => {
  const made = madeBy(event);
  return made !== undefined && state.status === 'admitted' && state.tasks[made] !== undefined;
};
