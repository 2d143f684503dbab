import { contentHash } from '@fixpoint/contracts/content-hash';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { boundedText } from '../ladder/bounded-text.ts';
import type { Finish } from '../ladder/climb.ts';
import type { Trace } from '../ladder/trace.ts';
import type { NodeReady, NodeVerifiedAction } from './assignment.ts';

const DETAIL_BYTES = 8_192;
const COMMAND_BYTES = 8_192;
/** Whoever asked models on the way adds what they used up. */
const NO_MONEY = { money_micros: 0, tokens: 0 };

const placeOf = ({ root, task, address, run, run_kind, node }: NodeReady) => ({
  root,
  task,
  address,
  run,
  run_kind,
  node_id: node.id,
  policy: node.policy,
  recipe_hash: contentHash(node.recipe),
});

/** The report of a run that climbed its ladder to the end. */
export const finishedReport = (
  nodeReady: NodeReady,
  finish: Finish,
  left: { readonly trace: Trace; readonly workspaceRef: WorkspaceRef | null; readonly durationMs: number },
): NodeVerifiedAction => ({
  ...placeOf(nodeReady),
  outcome: finish.outcome,
  fault_class: null,
  rung: finish.rung,
  postcondition_met: finish.postconditionMet,
  exit_code: left.trace.exitCode,
  repaired_command: left.trace.repairedCommand === null ? null : boundedText(left.trace.repairedCommand, COMMAND_BYTES),
  workspace_ref: left.workspaceRef,
  output: left.trace.output.output,
  output_artifact: left.trace.output.artifact,
  detail: boundedText(left.trace.detail, DETAIL_BYTES),
  firewall_broken: left.trace.firewallBroken,
  spent: { duration_ms: left.durationMs, ...NO_MONEY },
  merge_conflicts: null,
  provider_fault: null,
});

/** The report of a run that the machinery ended: no evidence about the work. */
export const faultedReport = (
  nodeReady: NodeReady,
  fault: { readonly class: FaultClass; readonly detail: string; readonly durationMs: number },
): NodeVerifiedAction => ({
  ...placeOf(nodeReady),
  outcome: 'faulted',
  fault_class: fault.class,
  rung: 'none',
  postcondition_met: null,
  exit_code: null,
  repaired_command: null,
  workspace_ref: null,
  output: null,
  output_artifact: null,
  detail: boundedText(fault.detail, DETAIL_BYTES),
  firewall_broken: null,
  spent: { duration_ms: fault.durationMs, ...NO_MONEY },
  merge_conflicts: null,
  provider_fault: null,
});

/** The report of a run that was stopped before there was anything to say about it. */
export const cancelledReport = (nodeReady: NodeReady, durationMs: number): NodeVerifiedAction => ({
  ...faultedReport(nodeReady, { class: 'internal', detail: '', durationMs }),
  outcome: 'cancelled',
  fault_class: null,
});
