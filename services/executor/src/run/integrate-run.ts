import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import { MOST_CONFLICTS } from '@fixpoint/contracts/events/landing';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Merged } from '@fixpoint/execution/workspaces';
import { boundedText } from '../ladder/bounded-text.ts';
import type { Finish } from '../ladder/climb.ts';
import { newTrace, type Trace } from '../ladder/trace.ts';
import type { Assignment, NodeReady } from './assignment.ts';
import { climbIn } from './climb-run.ts';
import { type LongRunDeps, type RunAt, type RunEnd, refNameOf, withinRun } from './run-end.ts';
import { finishedReport } from './run-report.ts';

/**
 * Merges what a child has proved into what its epic holds, then asks the child's own check of the whole. Where the two
 * clash the epic's side stands, and the merge is where the child goes on from.
 */
export const integrateRun = async (deps: LongRunDeps, assignment: Assignment, at: RunAt): Promise<RunEnd> => {
  const { nodeReady } = assignment;
  const { ref, conflicts } = await merged(deps, nodeReady, at);
  await recordMerge(nodeReady, { ref, conflicts }, at);
  if (conflicts.length > 0) return clashed(nodeReady, { ref, conflicts }, at);
  const node = checkedAlone(nodeReady.node);
  if (node === null) return ended(nodeReady, at, { ref, finish: UNASKED, trace: newTrace(null) });
  await deps.workspaces.materialise(ref, at.folder);
  const ownCheck = { ...assignment, evidence: null, nodeReady: { ...nodeReady, node, judges: null } };
  const { finish, trace } = await climbIn(deps, ownCheck, { ...at, runKind: 'check' });
  return ended(nodeReady, at, { ref: refAfter(finish, ref, at.start), finish, trace });
};

const merged = async (deps: LongRunDeps, nodeReady: NodeReady, at: RunAt): Promise<Merged> => {
  const { merge, keep, address } = nodeReady;
  if (merge === null) throw new Error('an integrate run without anything to merge');
  // An epic that holds nothing yet holds what its first child brings.
  if (nodeReady.workspace_ref === null) return { ref: merge.theirs, conflicts: [] };
  const { theirs, base } = merge;
  const names = { refName: refNameOf(nodeReady), message: `Merge ${address}` };
  return withinRun(deps.clock, at, (signal) =>
    deps.workspaces.merge({ ours: at.start, theirs, base, keep, signal, ...names }),
  );
};

const COMMAND = { exit_code: null, signal: null, rule: null, stdout: null, stderr: null, duration_ms: 0 };

const recordMerge = ({ address, merge }: NodeReady, { ref, conflicts }: Merged, { record }: RunAt): Promise<void> =>
  record({
    ...COMMAND,
    tool: 'merge',
    rung: 'none',
    command: `merge ${merge?.theirs.commit ?? ''} of ${address}`,
    outcome: conflicts.length === 0 ? 'ok' : 'failed',
    detail: conflicts.length === 0 ? ref.commit : boundedText(saidOf(conflicts), 1024),
  });

const saidOf = (conflicts: readonly string[]): string =>
  `${conflicts.length} ${conflicts.length === 1 ? 'path clashes' : 'paths clash'} with what the epic holds: ${conflicts.join(', ')}`;

/** Nobody was asked: what clashes is not the child's work any more. */
const clashed = (nodeReady: NodeReady, { ref, conflicts }: Merged, at: RunAt): RunEnd => {
  const finish: Finish = { do: 'finish', outcome: 'unmet', rung: 'none', postconditionMet: null };
  const trace: Trace = { ...newTrace(null), detail: saidOf(conflicts) };
  const { report, delivered } = ended(nodeReady, at, { ref, finish, trace });
  return { report: { ...report, merge_conflicts: boundedPaths(conflicts) }, delivered };
};

const PATHS_BYTES = 16_384;

/** As many paths as an event has room for. */
const boundedPaths = (paths: readonly string[]): string[] => {
  const kept: string[] = [];
  let room = PATHS_BYTES;
  for (const path of paths.slice(0, MOST_CONFLICTS)) {
    const bounded = boundedText(path, 1024);
    room -= Buffer.byteLength(JSON.stringify(bounded));
    if (room < 0) break;
    kept.push(bounded);
  }
  return kept;
};

/** A recipe whose exit code was all the evidence has been run; there is nothing that could be asked again. */
const UNASKED: Finish = { do: 'finish', outcome: 'satisfied', rung: 'none', postconditionMet: null };

/** The node with those of its checks that look at the workspace: nothing was put out here. Null where none are left. */
const checkedAlone = (node: NodeSpec): NodeSpec | null => {
  if (node.kind === 'gate') return node;
  const all = (node.postcondition?.all ?? []).filter((check) => !('json_schema' in check || 'cel' in check));
  return all.length === 0 ? null : { ...node, postcondition: { all } };
};

/** What could not be checked was not merged: the next try starts from where this one did. */
const refAfter = ({ outcome }: Finish, ref: WorkspaceRef, start: WorkspaceRef): WorkspaceRef | null => {
  if (outcome === 'cancelled') return null;
  return outcome === 'indeterminate' ? start : ref;
};

interface Ended {
  readonly ref: WorkspaceRef | null;
  readonly finish: Finish;
  readonly trace: Trace;
}

const ended = (nodeReady: NodeReady, { durationMs }: RunAt, { ref, finish, trace }: Ended): RunEnd => ({
  report: {
    ...finishedReport(nodeReady, finish, { trace, workspaceRef: ref, durationMs: durationMs() }),
    merge_conflicts: [],
  },
  delivered: null,
});
