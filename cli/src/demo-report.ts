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
  tokens: lineage.tokens,
  money_micros: lineage.money_micros,
  lineage_id: lineage.lineage,
});

/** The demonstration for people: a table, then every lineage as a tree. */
export const demoReport = (shown: readonly Shown[]): string => {
  const hasModel = shown.some(({ lineage }) => lineage.tokens > 0);
  const rows = shown.map(({ example, lineage, runs }) => [
    example,
    statusOf(lineage),
    rungsOf(runs).join(' '),
    String(lineage.fix_attempts),
    String(lineage.events),
    ...(hasModel ? [String(lineage.tokens), moneyOf(lineage)] : []),
  ]);
  const trees = shown.map(({ lineage, runs }) => lineageTree(lineage, runs));
  const head = ['example', 'end state', 'rungs', 'fix attempts', 'events', ...(hasModel ? ['tokens', 'money'] : [])];
  return [table(head, rows), ...trees].join('\n\n');
};

/** In the currency of the prices that are configured. */
const moneyOf = ({ money_micros }: Pick<Lineage, 'money_micros'>): string => (money_micros / 1_000_000).toFixed(6);

/** Every rung that was needed, in the order in which a run climbs them. */
const rungsOf = (runs: readonly Run[]): string[] => {
  const used = new Set(runs.map(({ rung }) => rung));
  return (['skip', 'recipe', 'self_repair', 'agent', 'check'] as const).filter((rung) => used.has(rung));
};
