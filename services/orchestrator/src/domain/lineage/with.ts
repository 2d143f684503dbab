import { NO_BASIS } from './basis.ts';
import { FRESH_NODE } from './fresh-node.ts';
import { NO_OUTPUT } from './held-output.ts';
import type { Admitted, Epic, Task, Unit } from './state.ts';

export const withTask = (state: Admitted, id: string, change: (task: Task) => Task): Admitted => {
  const task = state.tasks[id];
  return task ? { ...state, tasks: { ...state.tasks, [id]: change(task) } } : state;
};

export const withUnitOf = (state: Admitted, id: string, change: (unit: Unit) => Unit): Admitted => {
  const unitId = state.tasks[id]?.unit ?? id;
  const unit = state.units[unitId];
  return unit ? { ...state, units: { ...state.units, [unitId]: change(unit) } } : state;
};

export const withEpic = (state: Admitted, id: string, change: (epic: Epic) => Epic): Admitted => {
  const epic = state.epics[id];
  return epic ? { ...state, epics: { ...state.epics, [id]: change(epic) } } : state;
};

/** A task before its first run. */
export const noRuns = {
  ...{ runs: 0, current: null, queued: null, retry: null, basis: NO_BASIS },
  ...{ node: FRESH_NODE, nodeIndex: 0, nodeDone: false },
  passed: {},
} as const;
/** A task that is no child, has none, and has landed nothing. */
export const noEpic = {
  ...{ epic: null, memberOf: null, baseRef: null, landing: null, conflicts: 0, submission: null },
} as const;
/** A task that refers to nothing. */
export const noData = { inputs: {}, results: {}, takesData: false } as const;
/** A task before its first result. */
export const noResults = { ...NO_OUTPUT, heldOutput: NO_OUTPUT, degraded: false, signatures: [], fixes: 0 } as const;
