import { audited } from '@fixpoint/auditor/projections/audited-event';
import { type CursorRow, foldRows, type RowRules } from '@fixpoint/auditor/projections/fold-rows';
import { lineageRules } from '@fixpoint/auditor/projections/lineages';
import { runRules } from '@fixpoint/auditor/projections/runs';
import { taskRules } from '@fixpoint/auditor/projections/tasks';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';

/** What the auditor shows of a history: its tables, each row by key. */
export const tablesOf = (...pages: readonly (readonly RecordedEvent[])[]) => ({
  lineages: folded(lineageRules, pages),
  tasks: folded(taskRules, pages),
  runs: folded(runRules, pages),
});

const folded = <Row extends CursorRow>(
  rules: RowRules<Row>,
  pages: readonly (readonly RecordedEvent[])[],
): ReadonlyMap<string, Row> => {
  const rows = new Map<string, Row>();
  for (const page of pages) {
    for (const [key, row] of foldRows(rules, rows, page.map(audited))) rows.set(key, row);
  }
  return rows;
};
