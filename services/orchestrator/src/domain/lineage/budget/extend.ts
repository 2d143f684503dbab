import type { Bounds } from '@fixpoint/contracts/documents/protocol';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { followedBy, refOf, type Turn, taskOf, unitOf } from '../lookup.ts';
import { afterStallStep } from '../stall/next-step.ts';
import { readyRun } from '../start-run.ts';
import type { Facts, Task } from '../state.ts';
import { withinBudget } from './within-budget.ts';

export interface Extension {
  /** Only what changes, absolute. */
  readonly bounds: Partial<Bounds>;
  /** ISO; null: as it was. */
  readonly deadlineAt: string | null;
  readonly handoff: string | null;
}

/** More for a unit, or for the lineage where the lineage shares it; what had been held back goes on where it stood. */
export const extendBudget = (turn: Turn, unitTask: Task, { bounds, deadlineAt, handoff }: Extension): Facts => {
  const extended: LineageEvent = {
    type: 'budget_extended',
    data: { ...refOf(turn.state, unitTask), handoff, bounds, deadline_at: deadlineAt },
  };
  return followedBy(turn, [extended], (later) => withinBudget(later, released(later)));
};

const released = (turn: Turn): Facts =>
  Object.keys(turn.state.tasks).flatMap((id) => next(turn, taskOf(turn.state, id)));

const next = (turn: Turn, task: Task): Facts => {
  if (task.status !== 'open' || task.kind === 'fix') return queuedOf(turn, task);
  const unit = unitOf(turn.state, task);
  const rests = task.current === null && task.queued === null && task.retry === null && !unit.request.open;
  const asks = rests && unit.stall !== null && unit.request.retryAt === null && unit.handoff === null;
  return asks ? afterStallStep(turn, task) : queuedOf(turn, task);
};

const queuedOf = (turn: Turn, task: Task): Facts =>
  task.status === 'open' && task.queued !== null
    ? [{ type: 'node_ready', data: readyRun(turn, task, task.queued) }]
    : [];
