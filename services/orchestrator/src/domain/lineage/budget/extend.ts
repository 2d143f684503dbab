import type { Bounds } from '@fixpoint/contracts/documents/protocol';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { councilRequest } from '../council-request.ts';
import { isIdle } from '../epics/landing.ts';
import { followedBy, refOf, type Turn, taskOf, unitOf } from '../lookup.ts';
import { type Numbered, queuedFor, queuedRun } from '../queue.ts';
import { afterStallStep } from '../stall/next-step.ts';
import { readyRun } from '../start-run.ts';
import type { Facts, Task, Unit } from '../state.ts';
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
  return followedBy(turn, [extended], (later) => withinBudget(later, heldBefore(later)));
};

const heldBefore = (turn: Turn): Facts =>
  Object.keys(turn.state.tasks).flatMap((id) => next(turn, taskOf(turn.state, id)));

const next = (turn: Turn, task: Task): Facts => {
  if (task.status !== 'open') return [];
  if (task.queued !== null) return task.queued.held ? released(turn, task, task.queued) : [];
  return task.kind === 'fix' || !isIdle(task) ? [] : askedNow(turn, task, unitOf(turn.state, task));
};

/** A stalled unit for which nobody does anything: its next step, or the council that there was nothing to ask with. */
const askedNow = (turn: Turn, task: Task, { stall, handoff, request: { open, retryAt } }: Unit): Facts => {
  if (stall === null || handoff !== null || open) return [];
  if (retryAt === null) return afterStallStep(turn, task);
  return Date.parse(retryAt) <= Date.parse(turn.now) ? [councilRequest(turn, task)] : [];
};

/** It starts if nothing else stands in its way; else its turn comes as it would have without the bound. */
const released = (turn: Turn, task: Task, held: Numbered): Facts => {
  const waitsFor = queuedFor(turn, task, held.plan);
  return waitsFor === null
    ? [{ type: 'node_ready', data: readyRun(turn, task, held) }]
    : [{ type: 'node_queued', data: queuedRun(turn, task, { ...held, waitsFor }) }];
};
