import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { ChildSpec } from '@fixpoint/contracts/events/epic-events';
import { FRESH_NODE } from './fresh-node.ts';
import { freshUnit } from './fresh-unit.ts';
import { NO_OUTPUT } from './held-output.ts';
import { takesData } from './node-data.ts';
import type { Admitted, Epic, EpicChild, Task } from './state.ts';
import { submittedEpicOf } from './tree.ts';
import { noData, noEpic, noResults, noRuns, withEpic, withTask, withUnitOf } from './with.ts';

type Data<Type extends LineageEvent['type']> = EventNamed<Type>['data'];

/** Total: an event of another kind leaves the state as it is. */
export const evolveEpic = (state: Admitted, event: LineageEvent): Admitted => {
  switch (event.type) {
    case 'epic_opened':
      return epicOpened(state, event.data);
    case 'child_submitted':
      return childSubmitted(state, event.data);
    case 'epic_child_resolved':
      return childResolved(state, event.data);
    case 'integration_failed':
      return integrationFailed(state, event.data);
    case 'child_excluded':
      return withChild(state, event.data, (child) => ({ ...child, state: 'excluded' }));
    case 'recompose_started':
      return recomposeStarted(state, event.data);
    case 'recompose_failed':
      return recomposeFailed(state, event.data);
    case 'epic_closed':
      return withEpic(state, event.data.epic, (epic) => ({ ...epic, closed: true }));
    case 'split_refused':
      return withUnitOf(state, event.data.task, (unit) => ({
        ...unit,
        request: { ...unit.request, open: false, refused: unit.request.refused + 1 },
      }));
    default:
      return state;
  }
};

const epicOpened = (state: Admitted, data: Data<'epic_opened'>): Admitted => {
  const { task: id, epic: epicId, base_ref: ref } = data;
  const parent = state.tasks[id];
  if (parent === undefined || state.epics[epicId] !== undefined) return state;
  const epic: Epic = {
    ...{ id: epicId, task: id, kind: data.kind, closesBy: data.closes_by, ref, closed: false },
    children: data.children.map(unresolved),
    nodeIndex: parent.nodeIndex,
    recompose: NEVER_RECOMPOSED,
  };
  const superseded = withTask(endTasks(state, data.ended_tasks), id, (task) => ({
    ...task,
    ...{ status: 'superseded', epic: epicId, current: null, queued: null, retry: null, candidate: null },
  }));
  const idle = withUnitOf(superseded, id, (unit) => ({
    ...unit,
    recovering: false,
    request: { ...unit.request, open: false, retryAt: null },
  }));
  const opened = { ...idle, epics: { ...idle.epics, [epicId]: epic } };
  const priority = state.units[state.root]?.start ?? 0;
  return data.children.reduce(
    (later, spec) => withNewChild(later, { spec, parent, priority, epic: epicId }, data),
    opened,
  );
};

const NEVER_RECOMPOSED: Epic['recompose'] = { started: 0, failed: 0, signature: null, retryAt: null };

const unresolved = ({ task, name }: ChildSpec): EpicChild => ({
  ...NO_OUTPUT,
  task,
  name,
  state: 'open',
  outcome: null,
});

const endTasks = (state: Admitted, ids: readonly string[]): Admitted =>
  ids.reduce(
    (later, id) =>
      withTask(later, id, (task) => ({ ...task, status: 'ended', current: null, queued: null, retry: null })),
    state,
  );

interface NewChild {
  readonly spec: ChildSpec;
  readonly parent: Task;
  readonly priority: number;
  readonly epic: string;
  /** Only of a child that a run submitted. */
  readonly accepted?: Task['accepted'];
  readonly submission?: Task['submission'];
}

type Budgeted = Pick<Data<'epic_opened'>, 'split_depth' | 'lineage_children'>;

const withNewChild = (state: Admitted, made: NewChild, budgeted: Budgeted): Admitted => {
  const { spec, parent, priority, epic, accepted = null, submission = null } = made;
  const child: Task = {
    ...{ ...noRuns, ...noResults, ...noData, ...noEpic, memberOf: epic, submission },
    ...{ id: spec.task, address: spec.address, kind: 'child', parent: parent.id, unit: spec.task, status: 'open' },
    ...{ depth: parent.depth + 1, splitDepth: budgeted.split_depth },
    ...{
      specHash: spec.spec_hash,
      nodes: spec.nodes,
      parts: spec.parts,
      ...withinOf(parent, spec),
      inputs: spec.inputs,
      takesData: takesData(spec.nodes),
    },
    ...{
      goal: spec.goal,
      brief: { intent: state.intent, ...spec.failure_signal },
      triggering: [],
      accepted,
      candidate: null,
    },
  };
  return {
    ...state,
    tasks: { ...state.tasks, [child.id]: child },
    units: { ...state.units, [child.id]: freshUnit(priority) },
    childrenUsed: Math.max(state.childrenUsed, budgeted.lineage_children),
  };
};

/** A child of a child is limited by both. */
const withinOf = ({ within = [] }: Task, { paths }: ChildSpec): Pick<Task, 'within'> => {
  const all = paths === undefined ? within : [...within, paths];
  return all.length === 0 ? {} : { within: all };
};

const childSubmitted = (state: Admitted, data: Data<'child_submitted'>): Admitted => {
  const { task: id, child: spec, node_id: node, key, priority, base_ref: accepted } = data;
  const parent = state.tasks[id];
  if (parent === undefined || state.tasks[spec.task] !== undefined) return state;
  const epic = submittedEpicOf(id);
  const known = state.epics[epic] ?? submittedEpic(parent);
  const children = [...known.children, unresolved(spec)];
  const nodeIndex = parent.nodeIndex;
  return withNewChild(
    { ...state, epics: { ...state.epics, [epic]: { ...known, children } } },
    { spec, parent, priority, epic, accepted, submission: { node, key, nodeIndex } },
    data,
  );
};

const submittedEpic = ({ id, nodeIndex }: Task): Epic => ({
  ...{ id: submittedEpicOf(id), task: id, kind: 'submitted', closesBy: 'rollup', ref: null, closed: false },
  ...{ children: [], nodeIndex, recompose: NEVER_RECOMPOSED },
});

type OfChild = { readonly task: string; readonly epic: string | null; readonly child: string };

const withChild = (
  state: Admitted,
  { task, epic, child: id }: OfChild,
  change: (child: EpicChild) => EpicChild,
): Admitted =>
  withEpic(state, epic ?? submittedEpicOf(task), (known) => ({
    ...known,
    children: known.children.map((child) => (child.task === id ? change(child) : child)),
  }));

const childResolved = (state: Admitted, data: Data<'epic_child_resolved'>): Admitted => {
  const { outcome, output, output_artifact: outputArtifact } = data;
  const resolved = withChild(state, data, (child) => ({
    ...child,
    ...{ state: 'resolved', outcome, output, outputArtifact },
  }));
  return data.epic === null ? resolved : withEpic(resolved, data.epic, (epic) => ({ ...epic, ref: data.epic_ref }));
};

/** The child begins anew from the merge; what it counted stays counted. Once a human is asked it keeps its own version. */
const integrationFailed = (state: Admitted, data: Data<'integration_failed'>): Admitted => {
  if (data.conflicts >= data.limit) return withTask(state, data.task, (task) => unmerged(task, data.conflicts));
  const { workspace_ref: accepted, base_ref: baseRef } = data;
  const brief = { intent: state.intent, ...data.failure_signal };
  const again = withTask(state, data.task, (task) => ({
    ...begunAnew(task, accepted),
    ...{ baseRef, brief, conflicts: Math.max(task.conflicts, data.conflicts), landing: null, degraded: false },
  }));
  const own = again.tasks[data.task]?.epic ?? null;
  return own === null ? again : withEpic(again, own, (epic) => ({ ...epic, ref: accepted }));
};

const unmerged = (task: Task, conflicts: number): Task => ({
  ...task,
  ...{ conflicts: Math.max(task.conflicts, conflicts), current: null, queued: null, retry: null },
});

const begunAnew = (task: Task, accepted: Task['accepted']): Task => ({
  ...task,
  ...{
    accepted,
    candidate: null,
    current: null,
    queued: null,
    retry: null,
    nodeDone: false,
    signatures: [],
    heldOutput: NO_OUTPUT,
  },
  node: { ...FRESH_NODE, counters: task.node.counters, granted: task.node.granted },
});

/** The unit has its work back, and nothing of its stall. */
const recomposeStarted = (state: Admitted, data: Data<'recompose_started'>): Admitted => {
  const begun = withTask(state, data.task, (task) => ({
    ...begunAnew(task, data.workspace_ref ?? task.accepted),
    status: task.status === 'superseded' ? 'open' : task.status,
    landing: null,
  }));
  const unstalled = withUnitOf(begun, data.task, (unit) => ({ ...unit, stall: null, recovering: false }));
  return withEpic(unstalled, data.epic, (epic) => ({
    ...epic,
    recompose: { ...epic.recompose, started: Math.max(epic.recompose.started, data.attempt), retryAt: null },
  }));
};

const recomposeFailed = (state: Admitted, data: Data<'recompose_failed'>): Admitted => {
  const idle = withTask(state, data.task, (task) => ({
    ...task,
    current: null,
    queued: null,
    retry: null,
    candidate: null,
  }));
  const unstalled = withUnitOf(idle, data.task, (unit) => ({ ...unit, stall: null, recovering: false }));
  return withEpic(unstalled, data.epic, (epic) => ({
    ...epic,
    recompose: {
      ...epic.recompose,
      ...{ failed: Math.max(epic.recompose.failed, data.attempt), signature: data.signature, retryAt: data.next_at },
    },
  }));
};
