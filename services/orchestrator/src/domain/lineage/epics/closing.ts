import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { withdrawal } from '../handoff.ts';
import { refOf, type Turn, taskOf, unitOf } from '../lookup.ts';
import type { Epic, Facts, Task } from '../state.ts';
import { epicOfChild, leftIn, ownEpicOf } from '../tree.ts';
import { rank } from './affinity.ts';

/** What a unit comes to: judged for itself, or the sum of its children. */
export interface Ending {
  readonly outcome: 'satisfied' | 'degraded';
  readonly ref: Task['accepted'];
  /** The ref of the epic that it belongs to, once its work stands there. */
  readonly epicRef: Epic['ref'];
}

export const verifiedEnding = (state: Turn['state'], task: Task): Ending => ({
  outcome: task.degraded ? 'degraded' : 'satisfied',
  ref: task.accepted,
  epicRef: epicOfChild(state, task)?.ref ?? null,
});

/** A container is as good as its children. */
export const rolledUp = (state: Turn['state'], task: Task, epic: Epic): Ending => ({
  outcome: epic.children.some(({ outcome }) => outcome === 'degraded') ? 'degraded' : 'satisfied',
  ref: epic.ref,
  epicRef: epicOfChild(state, task)?.ref ?? null,
});

/** The end of a unit, of its own epic, and its place in the epic that it belongs to: one append. */
export const unitClosed = (turn: Turn, task: Task, ending: Ending): Facts => {
  const own = ownEpicOf(turn.state, task);
  const isRanked = own !== null || task.kind === 'child';
  return [
    taskCompleted(turn, task, ending),
    ...(own === null ? [] : [epicClosed(turn, own, ending)]),
    ...(isRanked ? rank(turn, task, { change: (affinity) => affinity + 1, reason: 'completed' }) : []),
    ...withdrawal(turn, task, 'task_completed'),
    ...childResolved(turn, task, ending),
  ];
};

export const taskCompleted = (turn: Turn, task: Task, { outcome, ref }: Omit<Ending, 'epicRef'>): LineageEvent => ({
  type: 'task_completed',
  data: {
    ...refOf(turn.state, task),
    outcome,
    workspace_ref: ref,
    output: task.output,
    output_artifact: task.outputArtifact,
    runs: task.runs,
    fix_attempts: unitOf(turn.state, task).fixAttempts,
  },
});

const epicClosed = (turn: Turn, epic: Epic, { outcome }: Ending): LineageEvent => ({
  type: 'epic_closed',
  data: {
    ...refOf(turn.state, taskOf(turn.state, epic.task)),
    epic: epic.id,
    by: epic.closesBy,
    outcome,
    children: epic.children.length,
    excluded: epic.children.filter(({ state }) => state === 'excluded').length,
  },
});

const childResolved = (turn: Turn, child: Task, { outcome, epicRef }: Ending): Facts => {
  const epic = epicOfChild(turn.state, child);
  if (epic === null) return [];
  const parent = taskOf(turn.state, epic.task);
  const { output, outputArtifact: output_artifact } = child;
  return [
    {
      type: 'epic_child_resolved',
      data: {
        ...refOf(turn.state, parent),
        epic: epic.kind === 'submitted' ? null : epic.id,
        ...{ child: child.id, outcome, epic_ref: epicRef, output, output_artifact },
        left: leftIn(epic).filter(({ task }) => task !== child.id).length,
      },
    },
  ];
};
