import type { Clock } from '@fixpoint/contracts/clock';
import { climb } from '../ladder/climb.ts';
import { NO_OUTPUT } from '../ladder/node-output.ts';
import type { PrimitiveCalls } from '../ladder/primitive-calls.ts';
import type { RecordCall, RecordedCommands } from '../ladder/recorded-commands.ts';
import { rungs } from '../ladder/rungs.ts';
import { newTrace } from '../ladder/trace.ts';
import { type Assignment, type NodeVerifiedAction, planOf } from './assignment.ts';
import { finishedReport } from './run-report.ts';

/** There is no process here, and no folder to start one in. */
const NO_COMMANDS: RecordedCommands = {
  run: () => Promise.reject(new Error('a run in process has no commands')),
};

/** One run that needs neither a process nor a folder; same ladder, same records. */
export const inProcessRun = async (
  deps: { readonly primitives: PrimitiveCalls; readonly clock: Clock },
  { nodeReady, mode, evidence }: Assignment,
  record: RecordCall,
): Promise<NodeVerifiedAction> => {
  const startedAt = deps.clock.monotonicMs();
  const trace = newTrace(evidence);
  const { node } = nodeReady;
  const finish = await climb(
    planOf(nodeReady, nodeReady.run_kind === 'check' ? 'check' : 'normal'),
    rungs(
      {
        node,
        mode,
        commands: NO_COMMANDS,
        primitives: deps.primitives,
        setting: { folder: null, scratch: new Map(), signal: new AbortController().signal },
        record,
        clock: deps.clock,
        deadlineMs: startedAt + node.timeout_ms,
        outputOf: async () => NO_OUTPUT,
        outputFile: null,
        checkedOutput: async ({ output }) => output,
        askRepair: async () => ({ proposal: null, reason: 'primitives are not repaired' }),
        askAgent: () => Promise.reject(new Error('an agent needs a folder')),
        letWork: () => Promise.reject(new Error('a worker needs a folder')),
        firewall: async () => null,
      },
      trace,
    ),
  );
  return finishedReport(nodeReady, finish, {
    trace,
    workspaceRef: nodeReady.workspace_ref,
    durationMs: deps.clock.monotonicMs() - startedAt,
  });
};
