import type { FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import type { Rung } from '@fixpoint/contracts/events/executor-events';
import type { Lineage } from '@fixpoint/contracts/rest/audit';
import { displayText } from '@fixpoint/event-store/display-text';
import { sql } from 'kysely';
import { type AuditedEvent, lineageOf } from './audited-event.ts';
import { excerpt, type RowRules } from './fold-rows.ts';
import type { RowTable } from './row-table.ts';
import { openHandoffs, type Units, unitsAfter, waitsForHuman } from './units.ts';

/** A row of `audit.lineage`: what `Lineage` shows, except what a join adds. */
export type LineageRow = Omit<Lineage, 'fix_attempts_left' | 'children_left' | 'protocol'> & {
  readonly units: Units;
  readonly protocol_name: string;
  readonly protocol_version: number;
};

const GOAL_LENGTH = 2_000;

/** From what needs nothing to what needs most; a lineage shows the highest. */
const RUNGS: readonly Rung[] = ['none', 'check', 'skip', 'recipe', 'self_repair', 'agent'];

export const lineageRules: RowRules<LineageRow> = {
  keysOf: (audited) => [lineageOf(audited)],
  evolve: (row, audited) => {
    if (!row) return submitted(audited);
    const patch = audited.fact ? changeOf(row, audited.fact, audited.event.occurred_at) : {};
    return { ...row, ...patch, events: row.events + 1 };
  },
};

const submitted = ({ event, fact }: AuditedEvent): LineageRow | undefined => {
  if (fact?.type !== 'task_submitted') return undefined;
  const { scope, spec, protocol, deadline_at } = fact.data;
  const labels = Object.entries(spec.labels).map(([name, value]) => [displayText(name), value]);
  return {
    lineage: event.root,
    ...scope,
    name: spec.name,
    goal: excerpt(spec.goal, GOAL_LENGTH),
    labels: Object.fromEntries(labels),
    status: 'running',
    halt_type: null,
    raw_halt_type: null,
    depth: 0,
    fix_attempts: 0,
    children: 0,
    split_depth: 0,
    open_handoffs: 0,
    money_micros: 0,
    tokens: 0,
    units: unitsAfter({}, fact),
    runs: 0,
    events: 1,
    rung: 'none',
    protocol_name: protocol.name,
    protocol_version: protocol.version,
    started_at: event.occurred_at,
    ended_at: null,
    deadline_at,
    cursor: '',
  };
};

/** What the event says, and where that leaves a lineage that has not ended. */
const changeOf = (row: LineageRow, fact: FixpointEvent, at: string): Partial<LineageRow> => {
  const units = unitsAfter(row.units, fact);
  const patch = meaning(row, fact, at);
  const known = units === row.units ? patch : { ...patch, units, open_handoffs: openHandoffs(units) };
  return row.ended_at !== null || patch.ended_at !== undefined
    ? known
    : { ...known, ...standing({ ...row, ...known }) };
};

const standing = ({ units, halt_type, raw_halt_type }: LineageRow): Partial<LineageRow> =>
  waitsForHuman(units) ? { status: 'human', halt_type, raw_halt_type } : { status: 'running', ...NO_HALT };

const meaning = (row: LineageRow, fact: FixpointEvent, at: string): Partial<LineageRow> => {
  switch (fact.type) {
    case 'node_ready':
      return { runs: row.runs + 1 };
    case 'node_verified_action':
      return { rung: higher(row.rung, fact.data.rung), ...spent(row, fact.data.spent) };
    // The last word on a request has all of it, also where it was no answer.
    case 'split_decided':
    case 'council_faulted':
      return spent(row, fact.data.spent);
    case 'subtask_spawned':
      return {
        depth: Math.max(row.depth, fact.data.depth),
        fix_attempts: Math.max(row.fix_attempts, fact.data.fix_attempts),
      };
    case 'human_required':
      return haltOf(fact.data);
    case 'epic_opened':
    case 'child_submitted':
      return { children: fact.data.lineage_children, split_depth: Math.max(row.split_depth, fact.data.split_depth) };
    case 'task_completed':
    case 'task_blocked':
    case 'task_cancelled':
    case 'task_abandoned':
      return fact.data.task === row.lineage ? end(fact, at) : {};
    default:
      return {};
  }
};

type Spent = Pick<Extract<FixpointEvent, { type: 'node_verified_action' }>['data']['spent'], 'money_micros' | 'tokens'>;

/** A row that was read has its `bigint`s as text: pg does not know whether a number could hold them. */
const spent = ({ money_micros, tokens }: LineageRow, more: Spent): Partial<LineageRow> => ({
  money_micros: Number(money_micros) + more.money_micros,
  tokens: Number(tokens) + more.tokens,
});

const NO_HALT = { halt_type: null, raw_halt_type: null } as const;

const haltOf = ({ halt_type, raw_halt_type }: Pick<Lineage, 'halt_type' | 'raw_halt_type'>) => ({
  halt_type,
  raw_halt_type,
});

type EndOfTask = Extract<
  FixpointEvent,
  { type: 'task_completed' | 'task_blocked' | 'task_cancelled' | 'task_abandoned' }
>;

const end = (fact: EndOfTask, at: string): Partial<LineageRow> => {
  if (fact.type === 'task_blocked') return { status: 'blocked', ...haltOf(fact.data), ended_at: at };
  if (fact.type === 'task_cancelled') return { status: 'cancelled', ...NO_HALT, ended_at: at };
  if (fact.type === 'task_abandoned') return { status: 'abandoned', ...NO_HALT, ended_at: at };
  const status = fact.data.outcome === 'degraded' ? 'degraded' : 'completed';
  return { status, ...NO_HALT, ended_at: at };
};

const higher = (a: Rung, b: Rung): Rung => (RUNGS.indexOf(a) >= RUNGS.indexOf(b) ? a : b);

export const lineageTable: RowTable<LineageRow> = {
  name: 'lineage',
  rules: lineageRules,
  key: ['lineage'],
  columns: [
    'project',
    'mode',
    'name',
    'goal',
    'labels',
    'status',
    'halt_type',
    'raw_halt_type',
    'depth',
    'fix_attempts',
    'children',
    'split_depth',
    'open_handoffs',
    'money_micros',
    'tokens',
    'units',
    'runs',
    'events',
    'rung',
    'protocol_name',
    'protocol_version',
    'started_at',
    'ended_at',
    'deadline_at',
    'cursor',
  ],
  keyOf: ({ lineage }) => lineage,
  where: (keys) => sql`lineage = any(${keys})`,
};
