import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { CommandResult, Program } from '@fixpoint/execution/runner';
import { NO_OUTPUT, type NodeOutput } from './node-output.ts';

/** A corrected command, and the playbook rule or model that proposed it. */
export interface RepairProposal {
  readonly program: Extract<Program, { kind: 'shell' | 'script' }>;
  readonly rule: string;
}

/** What the last recipe or repair left for checks of the output: of this run, or of the one that a check run judges. */
export interface RecipeEvidence {
  readonly output: NodeOutput;
  readonly exitCode: number | null;
  /** Starts of what was printed. */
  readonly stdout: string;
  readonly stderr: string;
}

/** What the rungs leave behind for the report of the run. */
export interface Trace {
  /** Of the last recipe or repair. */
  last: { readonly command: string; readonly result: CommandResult | null } | null;
  exitCode: number | null;
  repairedCommand: string | null;
  output: NodeOutput;
  /** The file that is the output, as it was before the recipe; null where no recipe has run. */
  fileBefore: NodeOutput | null;
  /** Starts of what the last recipe or repair printed. */
  printed: { readonly stdout: string; readonly stderr: string };
  /** Why the last step did not do what was hoped. */
  detail: string;
  firewallBroken: string | null;
  proposal: RepairProposal | null;
  /** What an agent left before the recipe of a gate was run; null where that is the folder's end. */
  agentRef: WorkspaceRef | null;
}

/** @param before what a check run is asked about; null where a recipe runs first. */
export const newTrace = (before: RecipeEvidence | null): Trace => ({
  last: null,
  exitCode: before?.exitCode ?? null,
  repairedCommand: null,
  output: before?.output ?? NO_OUTPUT,
  fileBefore: null,
  printed: { stdout: before?.stdout ?? '', stderr: before?.stderr ?? '' },
  detail: '',
  firewallBroken: null,
  proposal: null,
  agentRef: null,
});
