import type { StartQueued } from './commands.ts';
import type { Turn } from './lookup.ts';
import { readyRun } from './start-run.ts';
import type { Facts } from './state.ts';

/** The turn of a queued run has come; one that is no longer queued starts nothing. */
export const startQueued = (command: StartQueued, turn: Turn): Facts => {
  const task = turn.state.tasks[command.task];
  if (task?.status !== 'open' || task.queued?.run !== command.run) return [];
  if (turn.state.budget.exceeded || turn.state.deadlinePassed) return [];
  const { plan, run } = task.queued;
  return [{ type: 'node_ready', data: readyRun(turn, task, { plan, run }) }];
};
