import type { Admitted, Epic, EpicChild, Task } from './state.ts';

/** The epic of the children that a unit's runs submitted; there is one a unit, and it is never closed. */
export const submittedEpicOf = (unit: string): string => `${unit}.submitted`;

/** All tasks below this one, by their parents: children, fixes, and theirs. */
export const descendantsOf = (state: Admitted, id: string): readonly Task[] => {
  const children = Object.values(state.tasks).filter((task) => task.parent === id);
  return children.flatMap((child) => [child, ...descendantsOf(state, child.id)]);
};

/** Neither ended nor done: it runs, waits, or its children do its work. */
export const isLive = ({ status }: Pick<Task, 'status'>): boolean => status === 'open' || status === 'superseded';

/** The epic that does a unit's work; null as long as it was never split. */
export const ownEpicOf = (state: Admitted, { epic }: Pick<Task, 'epic'>): Epic | null =>
  epic === null ? null : (state.epics[epic] ?? null);

/** The epic that a child belongs to; null for roots and fixes. */
export const epicOfChild = (state: Admitted, { memberOf }: Pick<Task, 'memberOf'>): Epic | null =>
  memberOf === null ? null : (state.epics[memberOf] ?? null);

/** Children that were ever made of a unit: the next one is one more. */
export const childrenMade = (state: Admitted, unit: string): number =>
  Object.values(state.tasks).filter(({ parent, kind }) => parent === unit && kind === 'child').length;

/** Children that an epic still waits for. */
export const leftIn = (epic: Epic): readonly EpicChild[] => epic.children.filter(({ state }) => state === 'open');

/** Children that a unit's runs submitted and that it waits for. */
export const submittedLeft = (state: Admitted, unit: string): readonly EpicChild[] => {
  const epic = state.epics[submittedEpicOf(unit)];
  return epic === undefined ? [] : leftIn(epic);
};

/** A child that will never be done: it holds its epic until a human excludes it. */
export const holds = (state: Admitted, { task, state: now }: EpicChild): boolean => {
  const child = state.tasks[task];
  return now === 'open' && child !== undefined && !isLive(child) && child.status !== 'completed';
};

/** The unit is being assembled from what its children left, or waits to be tried again. */
export const isRecomposing = (state: Admitted, task: Task): boolean => {
  const epic = ownEpicOf(state, task);
  return epic !== null && !epic.closed && epic.recompose.started > 0;
};
