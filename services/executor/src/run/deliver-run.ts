import type { Delivered } from '@fixpoint/execution/workspaces';
import { boundedText } from '../ladder/bounded-text.ts';
import type { Finish } from '../ladder/climb.ts';
import { newTrace } from '../ladder/trace.ts';
import type { Assignment, NodeReady } from './assignment.ts';
import { type LongRunDeps, type RunAt, type RunEnd, withinRun } from './run-end.ts';
import { finishedReport } from './run-report.ts';

/** Brings the workspace to its branch. The workspace stays what it is, whatever becomes of that. */
export const deliverRun = async (deps: LongRunDeps, { nodeReady }: Assignment, at: RunAt): Promise<RunEnd> => {
  const { deliver } = nodeReady;
  if (deliver === null) throw new Error('a deliver run without a place to deliver to');
  const { keep } = nodeReady;
  const answer = await withinRun(deps.clock, at, (signal) =>
    deps.workspaces.deliver(at.start, { ...deliver.git, keep, message: messageOf(nodeReady), signal }),
  );
  await recordDelivery(deliver.git, answer, at);
  const isThere = answer.outcome === 'delivered';
  const finish: Finish = {
    do: 'finish',
    outcome: isThere ? 'satisfied' : 'unmet',
    rung: 'none',
    postconditionMet: isThere,
  };
  const trace = { ...newTrace(null), detail: isThere ? '' : answer.detail };
  return {
    report: finishedReport(nodeReady, finish, { trace, workspaceRef: at.start, durationMs: at.durationMs() }),
    delivered: isThere ? deliveredData(nodeReady, deliver.git, answer) : null,
  };
};

/** Of the commit with what nobody committed: what the lineage is for. */
const messageOf = ({ intent, root }: NodeReady): string => {
  const [line = ''] = intent.split('\n', 1);
  return line.trim().slice(0, 200) || `Result of ${root}`;
};

type Place = NonNullable<NodeReady['deliver']>['git'];

const NO_PROCESS = { exit_code: null, signal: null, rule: null, stdout: null, stderr: null, duration_ms: 0 };

const recordDelivery = ({ url, branch }: Place, answer: Delivered, { record }: RunAt): Promise<void> =>
  record({
    ...NO_PROCESS,
    tool: 'deliver',
    rung: 'none',
    command: boundedText(`push ${answer.commit} to ${branch} of ${url}`, 4096),
    outcome: answer.outcome === 'delivered' ? 'ok' : 'failed',
    detail:
      answer.outcome === 'delivered'
        ? answer.already
          ? 'it stood there already'
          : ''
        : boundedText(answer.detail, 1024),
  });

const deliveredData = (
  { root, task, address, run }: NodeReady,
  { url, branch }: Place,
  { commit, already }: Extract<Delivered, { outcome: 'delivered' }>,
): NonNullable<RunEnd['delivered']> => ({ root, task, address, run, url, branch, commit, already });
