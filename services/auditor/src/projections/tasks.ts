import type { EventNamed, FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import type { Task, TaskStatus } from '@fixpoint/contracts/rest/audit';
import { sql } from 'kysely';
import type { AuditedEvent } from './audited-event.ts';
import { excerpt, type RowRules } from './fold-rows.ts';
import type { RowTable } from './row-table.ts';

/** A row of `audit.task`. */
export type TaskRow = Task;

const GOAL_LENGTH = 2_000;
const OUTPUT_LENGTH = 2_000;

export const taskRules: RowRules<TaskRow> = {
  keysOf: ({ fact }) => (fact ? tasksOf(fact) : []),
  evolve: (row, audited, key) => {
    const { event, fact } = audited;
    if (!fact) return row;
    if (!row) return created(audited, key);
    const patch = meaning(row, fact, event.occurred_at);
    return patch && { ...row, ...patch };
  },
};

/** Tasks that an event says something about; a spawned fix also charges the unit that pays for it. */
const tasksOf = (fact: FixpointEvent): readonly string[] => {
  switch (fact.type) {
    case 'subtask_spawned':
      return [fact.data.task_ref, fact.data.unit];
    case 'recovery_exhausted':
    case 'recovery_stalled':
    case 'task_cancelled':
    case 'task_abandoned':
    case 'human_decided':
    case 'handoff_expired':
      return [...new Set([fact.data.task, ...fact.data.ended_tasks])];
    case 'epic_opened':
      return [fact.data.task, ...fact.data.children.map(({ task }) => task), ...fact.data.ended_tasks];
    case 'child_submitted':
      return [fact.data.child.task];
    case 'task_submitted':
    case 'node_ready':
    case 'node_verified_action':
    case 'node_skipped':
    case 'task_completed':
    case 'task_blocked':
    case 'task_stalled':
    case 'affinity_changed':
    case 'recompose_started':
    case 'human_required':
    case 'handoff_withdrawn':
      return [fact.data.task];
    default:
      return [];
  }
};

const created = ({ event, fact }: AuditedEvent, key: string): TaskRow | undefined => {
  if (fact?.type === 'task_submitted') return root(fact.data, event.occurred_at);
  if (fact?.type === 'epic_opened') return childOfSplit(fact.data, event.occurred_at, key);
  if (fact?.type === 'child_submitted') return child(fact.data, fact.data.child, event.occurred_at);
  if (fact?.type === 'subtask_spawned' && key === fact.data.task_ref) return fix(fact.data, event.occurred_at);
  return undefined;
};

const FRESH = {
  status: 'running',
  halt_type: null,
  raw_halt_type: null,
  rung: 'none',
  fix_attempts: 0,
  runs: 0,
  node: null,
  output: null,
  output_artifact: null,
  epic: null,
  split_depth: 0,
  affinity: 0,
  ended_at: null,
  cursor: '',
} as const;

const root = (data: EventNamed<'task_submitted'>['data'], at: string): TaskRow => ({
  ...FRESH,
  lineage: data.root,
  task: data.task,
  address: data.address,
  parent: null,
  kind: 'root',
  project: data.scope.project,
  name: data.spec.name,
  goal: excerpt(data.spec.goal, GOAL_LENGTH),
  depth: 0,
  affinity: data.spec.priority,
  nodes: data.spec.nodes.length,
  skipped: [],
  triggering_validators: [],
  started_at: at,
});

type Opened = EventNamed<'epic_opened'>['data'];
type Submitted = EventNamed<'child_submitted'>['data'];

const childOfSplit = (data: Opened, at: string, key: string): TaskRow | undefined => {
  const made = data.children.find(({ task }) => task === key);
  return made && child(data, made, at);
};

const child = (
  { root: lineage, task, scope, split_depth }: Opened | Submitted,
  made: Submitted['child'],
  at: string,
): TaskRow => ({
  ...FRESH,
  lineage,
  task: made.task,
  address: made.address,
  parent: task,
  kind: 'child',
  project: scope.project,
  name: made.name,
  goal: excerpt(made.goal, GOAL_LENGTH),
  depth: made.address.split(/[.~]/).length - 1,
  split_depth,
  nodes: made.nodes.length,
  skipped: [],
  triggering_validators: [],
  started_at: at,
});

const fix = (data: EventNamed<'subtask_spawned'>['data'], at: string): TaskRow => ({
  ...FRESH,
  lineage: data.root,
  task: data.task_ref,
  address: data.address,
  parent: data.parent_ref,
  kind: 'fix',
  project: data.scope.project,
  name: `fix ${data.triggering_validators.join(', ')}`,
  goal: excerpt(data.nodes.map(({ goal }) => goal).join('\n'), GOAL_LENGTH),
  depth: data.depth,
  nodes: data.nodes.length,
  skipped: [],
  triggering_validators: data.triggering_validators,
  started_at: at,
});

const meaning = (row: TaskRow, fact: FixpointEvent, at: string): Partial<TaskRow> | undefined => {
  switch (fact.type) {
    case 'subtask_spawned':
      return row.task === fact.data.unit ? { fix_attempts: fact.data.fix_attempts } : undefined;
    case 'node_ready':
      return { runs: fact.data.run, node: fact.data.node.id };
    case 'node_verified_action':
      return { rung: fact.data.rung };
    case 'node_skipped':
      return { skipped: [...row.skipped, skipped(fact.data)] };
    case 'task_stalled':
      return haltOf(fact.data);
    case 'human_required':
      return { status: 'human', ...haltOf(fact.data) };
    case 'epic_opened':
      return superseded(row, fact.data, at);
    case 'recompose_started':
      return { status: 'running', halt_type: null, raw_halt_type: null };
    case 'human_decided':
    case 'handoff_expired':
      return handoffEnded(row, fact, at);
    case 'task_cancelled':
    case 'task_abandoned':
      return row.ended_at === null ? { status: statusAfter(row, fact), ended_at: at } : undefined;
    case 'affinity_changed':
      return { affinity: fact.data.to };
    case 'handoff_withdrawn':
      return row.status === 'human' ? { status: 'running', halt_type: null, raw_halt_type: null } : {};
    case 'task_completed':
    case 'task_blocked':
    case 'recovery_exhausted':
    case 'recovery_stalled':
      return row.ended_at === null ? ended(row, fact, at) : undefined;
    default:
      return undefined;
  }
};

const superseded = (row: TaskRow, { task, epic, ended_tasks }: Opened, at: string): Partial<TaskRow> | undefined => {
  if (row.task === task) return { status: 'superseded', epic };
  return ended_tasks.includes(row.task) && row.ended_at === null ? { status: 'stalled', ended_at: at } : undefined;
};

type EndOfUnit = Extract<FixpointEvent, { type: 'task_cancelled' | 'task_abandoned' }>;

/** What ends with a unit was not asked about itself. */
const statusAfter = ({ task }: TaskRow, { type, data }: EndOfUnit): TaskStatus =>
  type === 'task_abandoned' && task === data.task ? 'abandoned' : 'cancelled';

const handoffEnded = (
  row: TaskRow,
  fact: EventNamed<'human_decided'> | EventNamed<'handoff_expired'>,
  at: string,
): Partial<TaskRow> | undefined => {
  const { task, ended_tasks } = fact.data;
  if (fact.type === 'handoff_expired' && fact.data.outcome === 'keep') return undefined;
  if (row.task === task)
    return row.status === 'human' ? { status: 'running', halt_type: null, raw_halt_type: null } : {};
  return ended_tasks.includes(row.task) && row.ended_at === null ? { status: 'stalled', ended_at: at } : undefined;
};

const skipped = ({ node_id: node, condition, runs }: EventNamed<'node_skipped'>['data']): Task['skipped'][number] => ({
  node,
  condition: excerpt(condition, GOAL_LENGTH),
  runs,
});

const resultOf = ({ output, output_artifact }: EventNamed<'task_completed'>['data']) => ({
  output: output === null ? null : excerpt(JSON.stringify(output), OUTPUT_LENGTH),
  output_artifact,
});

type Ending = Extract<
  FixpointEvent,
  { type: 'task_completed' | 'task_blocked' | 'recovery_exhausted' | 'recovery_stalled' }
>;

const STATUS_OF_ENDING = {
  task_blocked: 'blocked',
  recovery_exhausted: 'exhausted',
  recovery_stalled: 'stalled',
} as const satisfies Record<Exclude<Ending['type'], 'task_completed'>, TaskStatus>;

const ended = (row: TaskRow, fact: Ending, at: string): Partial<TaskRow> => {
  if (fact.type === 'task_completed') {
    const status = fact.data.outcome === 'degraded' ? 'degraded' : 'completed';
    return { status, halt_type: null, raw_halt_type: null, ...resultOf(fact.data), ended_at: at };
  }
  const status = STATUS_OF_ENDING[fact.type];
  // A unit whose recovery ended is not over: it stalls and goes to a human.
  const over = fact.type === 'task_blocked' || row.kind === 'fix';
  return { status, ...haltOf(fact.data), ended_at: over ? at : null };
};

const haltOf = ({ halt_type, raw_halt_type }: Pick<Task, 'halt_type' | 'raw_halt_type'>) => ({
  halt_type,
  raw_halt_type,
});

export const taskTable: RowTable<TaskRow> = {
  name: 'task',
  rules: taskRules,
  key: ['task'],
  columns: [
    'lineage',
    'address',
    'parent',
    'kind',
    'project',
    'name',
    'goal',
    'status',
    'halt_type',
    'raw_halt_type',
    'rung',
    'depth',
    'fix_attempts',
    'runs',
    'epic',
    'split_depth',
    'affinity',
    'nodes',
    'node',
    'skipped',
    'output',
    'output_artifact',
    'triggering_validators',
    'started_at',
    'ended_at',
    'cursor',
  ],
  keyOf: ({ task }) => task,
  where: (keys) => sql`task = any(${keys})`,
};
