import type { Epic, EpicPage } from '@fixpoint/contracts/rest/audit';
import type { EpicsQuery } from '@fixpoint/contracts/rest/audit-queries';
import type { EpicRow } from '../projections/epics.ts';
import type { AuditDb } from '../projections/row-table.ts';
import { equals, type PageSource, readPage } from './page.ts';

const source: PageSource<EpicRow> = {
  view: 'audit.epics',
  order: ['opened_at', 'epic'],
  kinds: ['string', 'string'],
  keyOf: ({ opened_at, epic }) => [opened_at, epic],
};

/** @throws {CursorInvalid} */
export const epicPage = async (db: AuditDb, query: EpicsQuery): Promise<EpicPage> => {
  const { lineage, task, status } = query;
  const page = await readPage(db, source, { conditions: equals({ lineage, task, status }), query });
  return { items: page.items.map(shownEpic), next: page.next };
};

const shownEpic = (row: EpicRow): Epic => ({
  epic: row.epic,
  lineage: row.lineage,
  task: row.task,
  address: row.address,
  kind: row.kind,
  closes_by: row.closes_by,
  status: row.status,
  children: row.children,
  open_children: row.open_children,
  attempts: row.attempts,
  next_at: row.next_at,
  split_depth: row.split_depth,
  opened_at: row.opened_at,
  closed_at: row.closed_at,
  cursor: row.cursor,
});
