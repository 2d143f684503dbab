import type { LineageDetail, Run, TaskTree } from '@fixpoint/contracts/rest/audit';
import { oneLine } from './printable.ts';
import { reasonsOfRun } from './reasons.ts';

/** A lineage as a tree for people: each task, its runs, why some of them failed, and the fixes below it. */
export const lineageTree = (lineage: LineageDetail, runs: readonly Run[]): string => {
  const title = `${lineage.name} ${lineage.lineage} ${statusOf(lineage)}`;
  return [title, ...taskLines(lineage.tree, runs, '')].join('\n');
};

/** Where a lineage stands, and what halted it. */
export const statusOf = ({ status, raw_halt_type }: Pick<LineageDetail, 'status' | 'raw_halt_type'>): string =>
  raw_halt_type === null ? status : `${status} (${raw_halt_type})`;

const taskLines = (task: TaskTree, runs: readonly Run[], indent: string): string[] => {
  const why = task.triggering_validators.length === 0 ? '' : ` for ${task.triggering_validators.join(', ')}`;
  const halt = task.raw_halt_type === null ? '' : ` (${task.raw_halt_type})`;
  const own = runs.filter((run) => run.task === task.task).sort((a, b) => a.run - b.run);
  return [
    `${indent}${task.address} ${task.kind}${nameOf(task)}${why}: ${task.status}${halt}`,
    ...skippedLines(task, 0, indent),
    ...own.flatMap((run) => [
      `${indent}  ${runLine(run)}`,
      ...reasonsOfRun(run).map((reason) => `${indent}      ${reason}`),
      ...skippedLines(task, run.run, indent),
    ]),
    ...resultLines(task, indent),
    ...task.children.flatMap((child) => taskLines(child, runs, `${indent}  `)),
  ];
};

/** Children have names of their own; a root's is in the title. */
const nameOf = ({ kind, name }: TaskTree): string => (kind === 'child' ? ` ${oneLine(name, NAME)}` : '');

/** Nodes whose conditions did not hold, where they would have been run. */
const skippedLines = ({ address, skipped }: TaskTree, runs: number, indent: string): string[] =>
  skipped
    .filter((each) => each.runs === runs)
    .map(
      ({ node, condition }) => `${indent}  ${address} ${node}: skipped, ${oneLine(condition, CONDITION)} does not hold`,
    );

const NAME = 80;
const CONDITION = 80;
const RESULT = 160;

const resultLines = ({ output, output_artifact }: TaskTree, indent: string): string[] => {
  if (output !== null) return [`${indent}  result: ${oneLine(output, RESULT)}`];
  return output_artifact === null ? [] : [`${indent}  result: artifact ${output_artifact}`];
};

const runLine = (run: Run): string => {
  const outcome = run.outcome === null ? run.state : `${run.outcome} at ${run.rung}`;
  const exit = run.exit_code === null ? '' : `, exit ${run.exit_code}`;
  const objections = run.verdicts.filter(({ severity }) => severity !== 'pass').map(({ validator }) => validator);
  const judged = run.judgement === null ? '' : `, judged ${[run.judgement, ...objections].join(' ')}`;
  return `${run.address}#${run.run} ${run.node} (${run.kind}, ${run.purpose}): ${outcome}${exit}${judged}`;
};
