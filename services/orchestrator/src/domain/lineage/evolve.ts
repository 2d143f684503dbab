import { checksOutput } from '@fixpoint/contracts/documents/task';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { RunOutcome } from '@fixpoint/contracts/events/executor-events';
import type { Json } from '@fixpoint/contracts/json';
import { FRESH_BUDGET } from './budget/budget.ts';
import { evolveBudget, reserved } from './budget/evolve-budget.ts';
import { isLanding } from './epics/landing-of.ts';
import { recoveryEnded, subtaskSpawned } from './evolve-closure.ts';
import { evolveEpic } from './evolve-epic.ts';
import { evolveHandoff, toldOfLetter } from './evolve-handoff.ts';
import { enteredAt, nodeQueued, nodeReady } from './evolve-ready.ts';
import { stallAfterRun, taskStalled, toldOfWithdrawal } from './evolve-stall.ts';
import { freshUnit } from './fresh-unit.ts';
import { type HeldOutput, NO_OUTPUT } from './held-output.ts';
import { isMadeBefore } from './made-before.ts';
import { takesData } from './node-data.ts';
import type { Admitted, Lineage, NodeProgress, RunEvidence, Task, Unit } from './state.ts';
import { noData, noEpic, noResults, noRuns, withTask, withUnitOf } from './with.ts';

type Output = { readonly output: Json; readonly output_artifact: string | null };
type Data<Type extends LineageEvent['type']> = EventNamed<Type>['data'];

const submitted = (data: Data<'task_submitted'>): Admitted => {
  const { root, task, address, scope, spec, protocol } = data;
  const rootTask: Task = {
    ...noRuns,
    ...noResults,
    ...noData,
    ...noEpic,
    inputs: spec.inputs ?? {},
    takesData: takesData(spec.nodes),
    id: task,
    address,
    kind: 'root',
    parent: null,
    unit: task,
    depth: 0,
    splitDepth: 0,
    status: 'open',
    specHash: data.spec_hash,
    nodes: spec.nodes,
    parts: spec.parts ?? [],
    goal: spec.goal,
    brief: null,
    triggering: [],
    accepted: null,
    candidate: null,
  };
  return admitted(data, { root, scope, protocol, tasks: { [task]: rootTask } });
};

const admitted = (
  { spec, spec_hash, deadline_at, task }: Data<'task_submitted'>,
  known: Pick<Admitted, 'root' | 'scope' | 'protocol' | 'tasks'>,
): Admitted => ({
  status: 'admitted',
  ...known,
  intent: spec.goal,
  source: spec.workspace.git,
  keep: spec.workspace.keep,
  concurrency: spec.concurrency ?? null,
  deliver: deliveryOf(spec),
  deadlineAt: deadline_at,
  deadlinePassed: false,
  submittedHash: spec_hash,
  decided: {},
  letters: [],
  budget: FRESH_BUDGET,
  units: { [task]: freshUnit(spec.priority) },
  epics: {},
  childrenUsed: 0,
});

const deliveryOf = ({ deliver, workspace: { git } }: Data<'task_submitted'>['spec']): Admitted['deliver'] =>
  deliver === undefined || git === null ? null : { url: git.url, branch: deliver.branch };

const evidenceOf = (data: Data<'run_counted'>): RunEvidence => ({
  run: data.run,
  outcome: data.outcome,
  exitCode: data.exit_code,
  recipeHash: data.recipe_hash,
  ref: data.workspace_ref,
});

const isGood = (outcome: RunOutcome): boolean => outcome === 'satisfied' || outcome === 'degraded';

const progressed = (node: NodeProgress, data: Data<'run_counted'>): NodeProgress => {
  const last = evidenceOf(data);
  return {
    counters: data.counters,
    granted: node.granted,
    last,
    lastNormal: data.run_kind === 'normal' ? last : node.lastNormal,
    lastWork: data.run_kind === 'normal' || data.run_kind === 'agent' ? last : node.lastWork,
    lastSatisfied: isGood(data.outcome) ? last : node.lastSatisfied,
  };
};

const runCounted = (state: Admitted, data: Data<'run_counted'>): Admitted => {
  const seen = withUnitOf(state, data.task, (unit) => {
    const rungs = unit.rungs.includes(data.rung) ? unit.rungs : [...unit.rungs, data.rung];
    const tried = { ...unit, rungs, ...stallAfterRun(unit, data) };
    return data.outcome === 'indeterminate' ? tried : { ...tried, faults: evidenced(unit) };
  });
  return withTask(seen, data.task, (task) => {
    const node = progressed(task.node, data);
    return {
      ...task,
      node,
      current: null,
      heldOutput: isGood(data.outcome) ? heldOutput(data) : task.heldOutput,
      signatures: data.signature === null ? task.signatures : [...task.signatures, data.signature],
      retry: data.next_at === null ? null : askedAgain(data, data.next_at, { ...task, node }),
    };
  });
};

/** The run whose output a check of the output is asked about. */
const outputRun = (task: Task): number | null => {
  const { lastNormal } = task.node;
  const node = task.nodes[task.nodeIndex];
  return node !== undefined && checksOutput(node) ? (lastNormal?.run ?? null) : null;
};

const askedAgain = (data: Data<'run_counted'>, at: string, task: Task): Task['retry'] =>
  isLanding(data.run_kind) ? landAgain(task, data, at) : checkAgain(data, at, outputRun(task));

const checkAgain = (data: Data<'run_counted'>, at: string, judges: number | null): Task['retry'] => ({
  after: data.run,
  at,
  kind: 'check',
  purpose: 'check_again',
  startRef: data.workspace_ref,
  judges,
});

/** The merge or the delivery is made once more from where it began. */
const landAgain = (task: Task, data: Data<'run_counted'>, at: string): Task['retry'] => ({
  ...{ after: data.run, at, kind: data.run_kind, purpose: 'landing', judges: null },
  startRef: task.current?.startRef ?? null,
});

/** Evidence starts the fault caps anew: they are on what came since. */
const evidenced = (unit: Unit): Unit['faults'] =>
  Object.fromEntries(Object.entries(unit.faults).map(([name, { count }]) => [name, { count, atLastEvidence: count }]));

const nodeCompleted = (state: Admitted, data: Data<'node_completed'>): Admitted => {
  const seen = withUnitOf(state, data.task, (unit) => ({
    ...unit,
    faults: evidenced(unit),
    agentAttempts: data.agent_attempts ?? unit.agentAttempts,
    ...(state.tasks[data.task]?.kind === 'fix' ? {} : { stall: null, resolving: false }),
  }));
  return withTask(seen, data.task, (task) => ({
    ...task,
    current: null,
    retry: null,
    nodeDone: true,
    accepted: data.workspace_ref ?? task.accepted,
    candidate: null,
    degraded: task.degraded || data.outcome === 'degraded',
    ...resultAfter(task, data),
    heldOutput: NO_OUTPUT,
    signatures: task.kind === 'fix' ? task.signatures : [],
  }));
};

/** The task's result is the last output that was proven; what a degraded node put out stands in its event alone. */
const resultAfter = (task: Task, data: Data<'node_completed'>): HeldOutput & Pick<Task, 'results'> => {
  const proven = data.outcome === 'satisfied' ? heldOutput(data) : NO_OUTPUT;
  const result = { outcome: data.outcome, output: proven.output, tooLarge: proven.outputArtifact !== null };
  const isSilent = proven.output === null && proven.outputArtifact === null;
  return {
    ...(isSilent ? { output: task.output, outputArtifact: task.outputArtifact } : proven),
    results: task.takesData ? { ...task.results, [data.node_id]: result } : task.results,
  };
};

const nodeSkipped = (state: Admitted, data: Data<'node_skipped'>): Admitted =>
  withTask(state, data.task, (task) => ({
    ...task,
    nodeDone: true,
    ...enteredAt(task, data.node_index),
    results: { ...task.results, [data.node_id]: { outcome: 'skipped', output: null, tooLarge: false } },
  }));

const taskCompleted = (state: Admitted, data: Data<'task_completed'>): Admitted => {
  const ended = withTask(state, data.task, (task) => ({
    ...task,
    status: 'completed',
    current: null,
    queued: null,
    retry: null,
  }));
  const task = state.tasks[data.task];
  if (task?.kind !== 'fix') return ended;
  return withTask(ended, task.parent ?? '', (task) => ({ ...task, candidate: data.workspace_ref }));
};

const faultRecorded = (state: Admitted, data: Data<'fault_recorded'>): Admitted => {
  const counted = withUnitOf(state, data.task, (unit) => ({
    ...unit,
    faults: {
      ...unit.faults,
      [data.class]: { count: data.count, atLastEvidence: data.count_at_last_evidence },
    },
    request: data.phase === 'council' ? { ...unit.request, open: false, retryAt: data.next_at } : unit.request,
  }));
  return data.next_run === null ? counted : withTask(counted, data.task, (task) => retried(task, data, data.next_run));
};

const retried = (task: Task, data: Data<'fault_recorded'>, next: Data<'fault_recorded'>['next_run']): Task => ({
  ...task,
  current: null,
  heldOutput: data.output === null && data.output_artifact === null ? task.heldOutput : heldOutput(data),
  retry: next && {
    after: data.run,
    at: data.next_at,
    kind: next.run_kind,
    purpose: 'after_fault',
    startRef: next.workspace_ref,
    judges: next.judges,
  },
});

const heldOutput = (data: Output): HeldOutput => ({ output: data.output, outputArtifact: data.output_artifact });

const taskBlocked = (state: Admitted, data: Data<'task_blocked'>): Admitted =>
  withTask(state, data.task, (task) => ({ ...task, status: 'blocked', current: null, queued: null, retry: null }));

/** Total: an event of another kind, or about a task that is not known, leaves the state as it is. */
export const evolve = (state: Lineage, event: LineageEvent): Lineage => {
  if (isMadeBefore(state, event)) return state;
  if (event.type === 'task_submitted') return submitted(event.data);
  return state.status === 'unknown' ? state : evolveAdmitted(state, event);
};

const evolveAdmitted = (state: Admitted, event: LineageEvent): Admitted => {
  switch (event.type) {
    case 'node_ready':
      return nodeReady(reserved(state, event.data, event.data.allowance), event.data);
    case 'node_queued':
      return nodeQueued(state, event.data);
    case 'run_counted':
      return runCounted(state, event.data);
    case 'node_completed':
      return nodeCompleted(state, event.data);
    case 'node_skipped':
      return nodeSkipped(state, event.data);
    case 'task_completed':
      return taskCompleted(state, event.data);
    case 'task_blocked':
      return taskBlocked(state, event.data);
    case 'subtask_spawned':
      return subtaskSpawned(state, event.data);
    case 'recovery_exhausted':
    case 'recovery_stalled':
      return recoveryEnded(state, event.data);
    case 'fault_recorded':
      return faultRecorded(state, event.data);
    default:
      return evolveUnit(state, event);
  }
};

const evolveUnit = (state: Admitted, event: LineageEvent): Admitted => {
  switch (event.type) {
    case 'recovery_resolved':
      return withUnitOf(state, event.data.task, (unit) => ({ ...unit, recovering: false }));
    case 'task_stalled':
      return taskStalled(state, event.data);
    case 'decomposition_requested':
      return withUnitOf(reserved(state, event.data, event.data.budget), event.data.task, (unit) => ({
        ...unit,
        request: { ...unit.request, number: event.data.request, open: true, retryAt: null },
      }));
    case 'affinity_changed':
      return withUnitOf(state, event.data.task, (unit) => ({ ...unit, affinity: event.data.to }));
    case 'human_required':
    case 'handoff_updated':
      return toldOfWithdrawal(toldOfLetter(evolveHandoff(state, event), event.data), event.data);
    case 'deadline_passed':
      return { ...state, deadlinePassed: true };
    default:
      return evolveEpic(evolveHandoff(evolveBudget(state, event), event), event);
  }
};
