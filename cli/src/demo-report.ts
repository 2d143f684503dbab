import type { Lineage, LineageDetail, Run } from '@fixpoint/contracts/rest/audit';
import { lineageTree, statusOf } from './output/lineage-tree.ts';
import { table } from './output/table.ts';

/** One example that ran: everything in it was read from the audit. */
export interface Shown {
  readonly example: string;
  readonly lineage: LineageDetail;
  readonly runs: readonly Run[];
}

/** The demonstration for programs. */
export const demoRecord = ({ example, lineage }: { readonly example: string; readonly lineage: Lineage }) => ({
  example,
  status: lineage.status,
  rung: lineage.rung,
  fix_attempts: lineage.fix_attempts,
  depth: lineage.depth,
  events: lineage.events,
  lineage_id: lineage.lineage,
});

/** The demonstration for people: a table, then every lineage as a tree. */
export const demoReport = (shown: readonly Shown[]): string => {
  const rows = shown.map(({ example, lineage, runs }) => [
    example,
    statusOf(lineage),
    rungsOf(runs).join(' '),
    String(lineage.fix_attempts),
    String(lineage.events),
  ]);
  const trees = shown.map(({ lineage, runs }) => lineageTree(lineage, runs));
  return [table(['example', 'end state', 'rungs', 'fix attempts', 'events'], rows), ...trees].join('\n\n');
};

/** Every rung that was needed, in the order in which a run climbs them. */
const rungsOf = (runs: readonly Run[]): string[] => {
  const used = new Set(runs.map(({ rung }) => rung));
  return (['skip', 'recipe', 'self_repair', 'agent', 'check'] as const).filter((rung) => used.has(rung));
};
