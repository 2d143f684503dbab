import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import { Refused } from '@fixpoint/decider/refused';
import type { Context } from './commands.ts';
import { evolve } from './evolve.ts';
import type { RunPlan } from './run-plan.ts';
import type { Admitted, Facts, Run, Task, Unit } from './state.ts';
import { isLive } from './tree.ts';

/** A task that is part of this lineage; anything else is a bug of the caller. */
export const taskOf = (state: Admitted, id: string): Task => {
  const task = state.tasks[id];
  if (!task) throw new Refused('task_unknown', id);
  return task;
};

export const unitOf = (state: Admitted, task: Task): Unit => {
  const unit = state.units[task.unit];
  if (!unit) throw new Refused('task_unknown', task.unit);
  return unit;
};

/** The task whose closure this one belongs to. */
export const unitTaskOf = (state: Admitted, task: Task): Task => taskOf(state, task.unit);

export const nodeOf = (task: Task, index = task.nodeIndex): NodeSpec => {
  const node = task.nodes[index];
  if (!node) throw new Refused('node_unknown', `${task.id} ${index}`);
  return node;
};

/** The task and run that an answer is for; null when the answer is late, repeated or for another lineage. */
export const inFlight = (state: Admitted, id: string, run: number): { task: Task; run: Run } | null => {
  const task = state.tasks[id];
  return task?.status === 'open' && task.current?.run === run ? { task, run: task.current } : null;
};

/** Somebody works on this lineage and will answer. */
export const isBusy = (state: Admitted): boolean =>
  Object.values(state.tasks).some((task) => task.current !== null) ||
  Object.values(state.units).some((unit) => unit.request.open);

/** Something will go on by itself when its time or its turn has come. */
export const waitsForTimer = (state: Admitted): boolean =>
  Object.values(state.tasks).some((task) => task.retry !== null || task.queued !== null) ||
  Object.values(state.units).some((unit) => unit.request.retryAt !== null) ||
  Object.values(state.epics).some(
    (epic) => epic.recompose.retryAt !== null && isLive(state.tasks[epic.task] ?? { status: 'ended' }),
  );

/** Where the next normal run of a task starts: the fixes' work while its recovery is open, else what was accepted. */
export const startOf = (task: Task): Task['accepted'] => task.candidate ?? task.accepted;

/** Where a run fetches from: the lineage's source, unless a human named another ref of it. */
export const sourceOf = (state: Admitted, { basis }: Pick<RunPlan, 'basis'>): Admitted['source'] =>
  basis?.source ?? state.source;

export const refOf = (state: Admitted, task: Task) => ({ root: state.root, task: task.id, address: task.address });

/** One decision in the making: the history with what was decided so far, the time and the mode. */
export interface Turn extends Context {
  readonly state: Admitted;
}

/** Facts, and then what is decided once they hold. */
export const followedBy = (turn: Turn, facts: Facts, next: (later: Turn) => Facts): Facts => {
  let { state } = turn;
  for (const fact of facts) {
    const folded = evolve(state, fact);
    if (folded.status === 'admitted') state = folded;
  }
  return [...facts, ...next({ ...turn, state })];
};
