import type { Task, TaskPage } from '@fixpoint/contracts/rest/audit';
import type { TasksQuery } from '@fixpoint/contracts/rest/audit-queries';
import type { AuditDb } from '../projections/row-table.ts';
import type { TaskRow } from '../projections/tasks.ts';
import { equals, type PageSource, readPage } from './page.ts';

const source: PageSource<TaskRow> = {
  view: 'audit.tasks',
  order: ['started_at', 'task'],
  kinds: ['string', 'string'],
  keyOf: ({ started_at, task }) => [started_at, task],
};

/** @throws {CursorInvalid} */
export const taskPage = async (db: AuditDb, query: TasksQuery): Promise<TaskPage> => {
  const { lineage, project, task, status, kind } = query;
  const page = await readPage(db, source, { conditions: equals({ lineage, project, task, status, kind }), query });
  return { items: page.items.map(shownTask), next: page.next };
};

/** The columns that the API shows, whatever else a view may have. */
export const shownTask = (row: TaskRow): Task => ({
  lineage: row.lineage,
  task: row.task,
  address: row.address,
  parent: row.parent,
  kind: row.kind,
  project: row.project,
  name: row.name,
  goal: row.goal,
  status: row.status,
  halt_type: row.halt_type,
  raw_halt_type: row.raw_halt_type,
  rung: row.rung,
  depth: row.depth,
  fix_attempts: row.fix_attempts,
  runs: row.runs,
  split_depth: row.split_depth,
  epic: row.epic,
  affinity: row.affinity,
  nodes: row.nodes,
  node: row.node,
  skipped: row.skipped,
  output: row.output,
  output_artifact: row.output_artifact,
  triggering_validators: row.triggering_validators,
  started_at: row.started_at,
  ended_at: row.ended_at,
  cursor: row.cursor,
});
