import type { LineageDetail, Run, VerdictSummary } from '@fixpoint/contracts/rest/audit';
import { oneLine } from './printable.ts';
import { firstLines, objectionLines } from './reasons.ts';

/** Where a lineage halted, as its last event says. */
export interface Halt {
  /** The smallest part that failed. */
  readonly slice: { readonly task: string; readonly node_id: string | null; readonly run: number | null };
  readonly detail: string;
  readonly verdicts: readonly VerdictSummary[];
  /** What a human was asked; left out where nobody can do anything about it. */
  readonly handoff?: string;
}

/** Why a lineage did not complete and what a person can do now, for people. @param runs of the lineage */
export const haltReport = (lineage: LineageDetail, halt: Halt, runs: readonly Run[]): string => {
  const { slice, detail, verdicts } = halt;
  const run = runs.find((each) => each.task === slice.task && each.run === slice.run);
  const objections = objectionLines([...verdicts, ...(run?.verdicts ?? [])]);
  const said = [...(run === undefined ? [] : firstLines(run.detail)), ...new Set(objections)];
  return [
    `halt: ${lineage.halt_type ?? 'unknown'}${detail === '' ? '' : `: ${oneLine(detail, DETAIL)}`}`,
    `at: ${placeOf(halt, run)}`,
    ...said.map((line) => `  ${line}`),
    halt.handoff === undefined
      ? 'now: correct the task and submit it again under another key'
      : `now: fixpoint handoffs show ${halt.handoff}`,
  ].join('\n');
};

const DETAIL = 300;

const placeOf = ({ slice }: Halt, run: Run | undefined): string => {
  const node = slice.node_id ?? run?.node;
  const place =
    run === undefined ? `task ${slice.task}` : `run ${run.address}#${run.run} (${run.outcome ?? run.state})`;
  return node === undefined ? place : `node ${node}, ${place}`;
};
