import { descendantsOf, isLive } from '@fixpoint/orchestrator/domain/lineage/tree';
import type { Rule } from './rule.ts';

const terminalStaysTerminal: Rule = {
  name: 'B14 terminal stays terminal',
  ofCommit: ({ before, after }) =>
    Object.values(before.tasks)
      .filter((task) => !isLive(task) && after.tasks[task.id]?.status !== task.status)
      .map(({ id, status }) => `${id} was ${status} and is ${after.tasks[id]?.status}`),
};

const STARTS = ['node_ready', 'node_queued', 'subtask_spawned', 'decomposition_requested', 'recompose_started'];

/** The task that begins something by an event; null when none does. */
const beginner = (event: { readonly type: string; readonly data: unknown }): string | null => {
  if (!STARTS.includes(event.type)) return null;
  const { task, parent_ref: parent } = event.data as { task?: string; parent_ref?: string };
  return task ?? parent ?? null;
};

const nothingAfterTheEnd: Rule = {
  name: 'nothing begins for what has ended: a cancel, a block and a give-up win over every late answer',
  ofEvent: ({ before, event }) => {
    const id = beginner(event);
    const task = id === null ? undefined : before.tasks[id];
    return task === undefined || isLive(task) ? [] : [`${event.type} of ${id}, which is ${task.status}`];
  },
};

const endsTakeAllAlong: Rule = {
  name: 'C18 the end of a unit is the end of everything below it, and of all it asked for',
  ofCommit: ({ after }) =>
    Object.values(after.tasks).flatMap((task) => {
      if (isLive(task)) return [];
      const unit = after.units[task.id];
      const below = descendantsOf(after, task.id).filter(isLive);
      return [
        ...below.map(({ id }) => `${id} goes on below ${task.id}, which is ${task.status}`),
        ...(task.current === null && task.queued === null && task.retry === null ? [] : [`${task.id} has a run`]),
        ...(unit !== undefined && unit.handoff !== null ? [`${task.id} asks a human`] : []),
        ...(unit?.request.open === true ? [`${task.id} asks the council`] : []),
      ];
    }),
};

/** What must never happen to a task, a run or a handoff that has ended. */
export const endRules: readonly Rule[] = [terminalStaysTerminal, nothingAfterTheEnd, endsTakeAllAlong];
