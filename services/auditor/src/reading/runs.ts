import type { Run, RunPage } from '@fixpoint/contracts/rest/audit';
import type { RunsQuery } from '@fixpoint/contracts/rest/audit-queries';
import type { AuditDb } from '../projections/row-table.ts';
import type { RunRow } from '../projections/runs.ts';
import { equals, type PageSource, readPage } from './page.ts';

const source: PageSource<RunRow> = {
  view: 'audit.runs',
  order: ['started_at', 'task', 'run'],
  kinds: ['string', 'string', 'number'],
  keyOf: ({ started_at, task, run }) => [started_at, task, run],
};

/** @throws {CursorInvalid} */
export const runPage = async (db: AuditDb, query: RunsQuery): Promise<RunPage> => {
  const { lineage, project, task, status: state, outcome } = query;
  const page = await readPage(db, source, { conditions: equals({ lineage, project, task, state, outcome }), query });
  return { items: page.items.map(shownRun), next: page.next };
};

const shownRun = (row: RunRow): Run => ({
  lineage: row.lineage,
  task: row.task,
  run: row.run,
  address: row.address,
  project: row.project,
  kind: row.kind,
  purpose: row.purpose,
  node: row.node,
  state: row.state,
  outcome: row.outcome,
  rung: row.rung,
  exit_code: row.exit_code,
  tools: row.tools,
  duration_ms: row.duration_ms,
  detail: row.detail,
  judgement: row.judgement,
  verdicts: row.verdicts,
  halt_type: row.halt_type,
  raw_halt_type: row.raw_halt_type,
  started_at: row.started_at,
  ended_at: row.ended_at,
  cursor: row.cursor,
});
