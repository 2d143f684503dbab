import type { EventNamed, FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import type { Epic } from '@fixpoint/contracts/rest/audit';
import { sql } from 'kysely';
import type { RowRules } from './fold-rows.ts';
import type { RowTable } from './row-table.ts';

/** A row of `audit.epic`. */
export type EpicRow = Epic;

type Data<Type extends FixpointEvent['type']> = EventNamed<Type>['data'];

export const epicRules: RowRules<EpicRow> = {
  keysOf: ({ fact }) => {
    const epic = fact && epicOf(fact);
    return epic === null || epic === undefined ? [] : [epic];
  },
  evolve: (row, { event, fact }) => {
    if (!fact) return row;
    if (!row) return fact.type === 'epic_opened' ? opened(fact.data, event.occurred_at) : undefined;
    return { ...row, ...meaning(row, fact, event.occurred_at) };
  },
};

/** The epic that an event is about; children that a run submitted belong to none. */
const epicOf = (fact: FixpointEvent): string | null => {
  switch (fact.type) {
    case 'epic_opened':
    case 'epic_child_resolved':
    case 'child_excluded':
    case 'integration_failed':
    case 'recompose_started':
    case 'recompose_failed':
    case 'epic_closed':
      return fact.data.epic;
    default:
      return null;
  }
};

const opened = (data: Data<'epic_opened'>, at: string): EpicRow => ({
  epic: data.epic,
  lineage: data.root,
  task: data.task,
  address: data.address,
  kind: data.kind,
  closes_by: data.closes_by,
  status: 'open',
  children: data.children.map(({ task, address, name, salvage }) => ({
    task,
    address,
    name,
    salvage,
    state: 'open',
    conflicts: 0,
  })),
  open_children: data.children.length,
  attempts: 0,
  next_at: null,
  split_depth: data.split_depth,
  opened_at: at,
  closed_at: null,
  cursor: '',
});

const meaning = (row: EpicRow, fact: FixpointEvent, at: string): Partial<EpicRow> => {
  switch (fact.type) {
    case 'epic_child_resolved':
      return { ...withChild(row, fact.data.child, { state: 'resolved' }), open_children: fact.data.left };
    case 'child_excluded':
      return {
        ...withChild(row, fact.data.child, { state: 'excluded' }),
        open_children: Math.max(0, row.open_children - 1),
      };
    case 'integration_failed':
      return withChild(row, fact.data.task, { conflicts: fact.data.conflicts });
    case 'recompose_started':
      return { status: 'recomposing', next_at: null };
    case 'recompose_failed':
      return { status: 'open', attempts: fact.data.attempt, next_at: fact.data.next_at };
    case 'epic_closed':
      return { status: 'closed', next_at: null, closed_at: at };
    default:
      return {};
  }
};

type Child = Epic['children'][number];

const withChild = ({ children }: EpicRow, task: string, change: Partial<Child>): Pick<EpicRow, 'children'> => ({
  children: children.map((child) => (child.task === task ? { ...child, ...change } : child)),
});

export const epicTable: RowTable<EpicRow> = {
  name: 'epic',
  rules: epicRules,
  key: ['epic'],
  columns: [
    'lineage',
    'task',
    'address',
    'kind',
    'closes_by',
    'status',
    'children',
    'open_children',
    'attempts',
    'next_at',
    'split_depth',
    'opened_at',
    'closed_at',
    'cursor',
  ],
  keyOf: ({ epic }) => epic,
  where: (keys) => sql`epic = any(${keys})`,
};
