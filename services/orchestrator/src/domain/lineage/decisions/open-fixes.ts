import type { Turn } from '../lookup.ts';
import type { Task } from '../state.ts';

/** Fixes of a unit that are under way. */
export const openFixes = ({ state }: Turn, { id }: Task): string[] =>
  Object.values(state.tasks)
    .filter((task) => task.unit === id && task.kind === 'fix' && task.status === 'open')
    .map((task) => task.id);
