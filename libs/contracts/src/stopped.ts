import { STOP_TYPES } from './services.ts';

/** Tasks that an event says are over for good: nothing more may be done for them. Empty for all other events. */
export const stoppedBy = ({ type, data }: { readonly type: string; readonly data: unknown }): readonly string[] => {
  if (!(STOP_TYPES as readonly string[]).includes(type) || typeof data !== 'object' || data === null) return [];
  const below = 'ended_tasks' in data && Array.isArray(data.ended_tasks) ? data.ended_tasks : [];
  const own = 'task' in data ? [data.task] : [];
  return [...own, ...below].filter((task): task is string => typeof task === 'string');
};
