import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { Admitted, Task, Unit } from './state.ts';
import { noData, noEpic, noResults, noRuns, withTask, withUnitOf } from './with.ts';

type Data<Type extends LineageEvent['type']> = EventNamed<Type>['data'];

export const subtaskSpawned = (state: Admitted, data: Data<'subtask_spawned'>): Admitted => {
  const fix: Task = {
    ...noRuns,
    ...noResults,
    ...noData,
    ...noEpic,
    id: data.task_ref,
    address: data.address,
    kind: 'fix',
    parent: data.parent_ref,
    unit: data.unit,
    depth: data.depth,
    splitDepth: state.tasks[data.unit]?.splitDepth ?? 0,
    status: 'open',
    specHash: data.spec_hash,
    nodes: data.nodes,
    parts: [],
    goal: state.intent,
    brief: data.brief,
    triggering: data.triggering_validators,
    accepted: data.workspace_ref,
    candidate: null,
  };
  const spawned = withTask(state, data.parent_ref, (task) => ({ ...task, fixes: task.fixes + 1 }));
  const charged = withUnitOf(spawned, data.unit, (unit) => chargedWith(unit, data));
  return { ...charged, tasks: { ...charged.tasks, [fix.id]: fix } };
};

const chargedWith = (unit: Unit, data: Data<'subtask_spawned'>): Unit => ({
  ...unit,
  recovering: true,
  fixAttempts: Math.max(unit.fixAttempts, data.fix_attempts),
  depthReached: Math.max(unit.depthReached, data.recovery_depth),
  failures: [
    ...unit.failures,
    ...data.brief.justifications.map((said) => ({ attempt: data.fix_attempts, task: data.parent_ref, ...said })),
  ],
});

/** A closure that ended takes its open fixes with it and drops the candidate. */
export const recoveryEnded = (
  state: Admitted,
  data: Data<'recovery_exhausted'> | Data<'recovery_stalled'>,
): Admitted => {
  let ended = withUnitOf(state, data.task, (unit) => ({ ...unit, recovering: false }));
  for (const id of data.ended_tasks) {
    ended = withTask(ended, id, (task) => ({ ...task, status: 'ended', current: null, queued: null, retry: null }));
  }
  return withTask(ended, data.task, (task) => ({ ...task, candidate: null, current: null, queued: null, retry: null }));
};
