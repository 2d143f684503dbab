import type { Lineage, LineageDetail, LineagePage, Task, TaskTree } from '@fixpoint/contracts/rest/audit';
import type { LineagesQuery } from '@fixpoint/contracts/rest/audit-queries';
import { displayText } from '@fixpoint/event-store/display-text';
import { sql } from 'kysely';
import type { LineageRow } from '../projections/lineages.ts';
import type { AuditDb } from '../projections/row-table.ts';
import { equals, type PageSource, readPage } from './page.ts';
import { shownTask } from './tasks.ts';

type ShownRow = LineageRow & Pick<Lineage, 'fix_attempts_left' | 'children_left'>;

const source: PageSource<ShownRow> = {
  view: 'audit.lineages',
  order: ['started_at', 'lineage'],
  kinds: ['string', 'string'],
  keyOf: ({ started_at, lineage }) => [started_at, lineage],
};

/** @throws {CursorInvalid} */
export const lineagePage = async (db: AuditDb, query: LineagesQuery): Promise<LineagePage> => {
  const { lineage, project, status, name } = query;
  const page = await readPage(db, source, { conditions: equals({ lineage, project, status, name }), query });
  return { items: page.items.map(shownLineage), next: page.next };
};

/** @returns null when there is no such lineage. */
export const lineageDetail = async (db: AuditDb, id: string): Promise<LineageDetail | null> => {
  const lineage = displayText(id);
  const { rows } = await sql<ShownRow>`select * from audit.lineages where lineage = ${lineage}`.execute(db);
  const tasks = await sql<Task>`select * from audit.tasks where lineage = ${lineage}
    order by started_at, length(task), task`.execute(db);
  const [row] = rows;
  const [tree] = forest(tasks.rows.map(shownTask), null);
  return row && tree ? { ...shownLineage(row), tree } : null;
};

const shownLineage = (row: ShownRow): Lineage => ({
  lineage: row.lineage,
  project: row.project,
  mode: row.mode,
  name: row.name,
  goal: row.goal,
  labels: row.labels,
  status: row.status,
  halt_type: row.halt_type,
  raw_halt_type: row.raw_halt_type,
  depth: row.depth,
  fix_attempts: row.fix_attempts,
  fix_attempts_left: row.fix_attempts_left,
  children: row.children,
  children_left: row.children_left,
  split_depth: row.split_depth,
  open_handoffs: row.open_handoffs,
  money_micros: Number(row.money_micros),
  tokens: Number(row.tokens),
  runs: row.runs,
  events: row.events,
  rung: row.rung,
  protocol: `${row.protocol_name}@${row.protocol_version}`,
  started_at: row.started_at,
  ended_at: row.ended_at,
  deadline_at: row.deadline_at,
  cursor: row.cursor,
});

/** Tasks under one parent, each with what is under it, in the order given. */
const forest = (tasks: readonly Task[], parent: string | null): TaskTree[] => {
  const under = Map.groupBy(tasks, (task) => task.parent);
  const grow = (at: string | null): TaskTree[] =>
    (under.get(at) ?? []).map((task) => ({ ...task, children: grow(task.task) }));
  return grow(parent);
};
