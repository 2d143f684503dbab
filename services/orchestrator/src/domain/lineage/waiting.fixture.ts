import { taskOf, unitOf } from './lookup.ts';
import type { Admitted, Task } from './state.ts';

/** What an open task waits for; `nothing` would be a task that nobody ever moves again. */
export type Wait =
  | { readonly for: 'run'; readonly run: number }
  | { readonly for: 'timer'; readonly at: string }
  | { readonly for: 'council'; readonly request: number }
  | { readonly for: 'human'; readonly handoff: string }
  | { readonly for: 'fix'; readonly task: string }
  | { readonly for: 'nothing' };

/** Null once the task has ended. */
export const waitOf = (state: Admitted, task: Task): Wait | null => {
  if (task.status !== 'open') return null;
  if (task.current) return { for: 'run', run: task.current.run };
  if (task.retry) return { for: 'timer', at: task.retry.at };
  const fix = Object.values(state.tasks).find((other) => other.parent === task.id && other.status === 'open');
  return fix ? { for: 'fix', task: fix.id } : unitWait(state, task);
};

const unitWait = (state: Admitted, task: Task): Wait => {
  const { request, handoff } = unitOf(state, task);
  if (request.open) return { for: 'council', request: request.number };
  if (request.retryAt !== null) return { for: 'timer', at: request.retryAt };
  return handoff === null ? { for: 'nothing' } : { for: 'human', handoff: handoff.id };
};

/** The root has ended, and with it the lineage. */
export const hasEnded = (state: Admitted): boolean => taskOf(state, state.root).status !== 'open';
