import type { NodeQueued, NodeReady } from '@fixpoint/contracts/events/lineage-events';
import { FRESH_NODE } from './fresh-node.ts';
import { planIn } from './run-plan.ts';
import type { Admitted, NodeProgress, Run, Task } from './state.ts';
import { withTask, withUnitOf } from './with.ts';

export const nodeReady = (state: Admitted, data: NodeReady): Admitted => {
  const task = state.tasks[data.task];
  const current: Run = {
    run: data.run,
    kind: data.run_kind,
    startRef: data.workspace_ref,
    judges: data.judges,
    regates: regatesOf(task, data),
  };
  return withTask(numberedOnce(state, data), data.task, (task) => ({ ...task, current, queued: null, retry: null }));
};

/** The run waits for its turn. */
export const nodeQueued = (state: Admitted, data: NodeQueued): Admitted => {
  const { run, since } = data;
  const regates = regatesOf(state.tasks[data.task], data);
  const queued = { run, plan: planIn(data), since, regates, held: data.queued_for === 'budget' };
  return withTask(numberedOnce(state, data), data.task, (task) => ({ ...task, current: null, queued, retry: null }));
};

/** One that was queued had its number then. */
const numberedOnce = (state: Admitted, data: NodeReady | NodeQueued): Admitted =>
  state.tasks[data.task]?.queued?.run === data.run ? state : numbered(state, data);

/** How often in a row nobody had begun the run that this one repeats. */
const regatesOf = (task: Task | undefined, { run, purpose }: Pick<NodeQueued, 'run' | 'purpose'>): number => {
  if (purpose !== 'regate') return 0;
  return task?.queued?.run === run ? task.queued.regates : (task?.current?.regates ?? 0) + 1;
};

/** A run has its number, whether it starts or waits. */
const numbered = (state: Admitted, data: NodeReady | NodeQueued): Admitted => {
  const counted = withUnitOf(state, data.task, (unit) => ({ ...unit, runs: unit.runs + 1 }));
  return withTask(counted, data.task, (task) => ({
    ...task,
    ...baseOf(task, data),
    runs: Math.max(task.runs, data.run),
    basis: { verdictsOf: data.verdicts_of, decisions: data.decisions, source: data.source },
    nodeDone: false,
    landing: data.run_kind === 'integrate' || data.run_kind === 'deliver' ? data.run_kind : null,
    ...enteredAt(task, data.node_index),
  }));
};

/** A child begins with what its siblings have landed when its first run is made. */
const baseOf = (task: Task, { workspace_ref }: NodeReady | NodeQueued): Partial<Task> =>
  task.kind === 'child' && task.runs === 0 ? { baseRef: workspace_ref, accepted: workspace_ref } : {};

/** Counters of a node are kept when another is entered: the task may come back to it. */
export const enteredAt = (task: Task, index: number): Pick<Task, 'nodeIndex' | 'node' | 'passed'> => {
  const { nodeIndex, node, passed } = task;
  if (index === nodeIndex) return { nodeIndex, node, passed };
  const left = { ...node.counters, granted: node.granted };
  return { nodeIndex: index, node: progressAt(task, index), passed: { ...passed, [nodeIndex]: left } };
};

/** Where a node of a task stands, whether the task is at it or not. */
export const progressAt = ({ nodeIndex, node, passed }: Task, index: number): NodeProgress => {
  if (index === nodeIndex) return node;
  const known = passed[index];
  if (known === undefined) return FRESH_NODE;
  const { granted, ...counters } = known;
  return { ...FRESH_NODE, counters, granted };
};
