import type { ScriptLanguage } from '@fixpoint/contracts/documents/task';
import type { ModelAccount } from './model-account.ts';

/** First and last bytes of what a stream of a process printed, at most 4 KiB each; equal when nothing was cut. */
export interface OutputEnds {
  readonly head: string;
  readonly tail: string;
}

/** Everything a model is told about the last command of a run that did not reach the goal. */
export interface FailedCommand {
  readonly goal: string;
  /** The command or script as it was last run: the recipe, or the last repair of it. */
  readonly command: string;
  /** `sh` for a command. */
  readonly language: ScriptLanguage;
  /** Null when it was killed or never started. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly stdout: OutputEnds;
  readonly stderr: OutputEnds;
  /** Which repair of the run this is, from 1. */
  readonly attempt: number;
  /** Every text that was run before in this run, the recipe first. None of them is proposed again. */
  readonly previous: readonly string[];
}

export type Proposal =
  | {
      readonly kind: 'proposed';
      /** To be run in place of the failed command, in the same language, like any command: gated, bounded, recorded. */
      readonly corrected: string;
      /** What proposed it: the id of a playbook rule, or the name of a model. */
      readonly rule: string;
      readonly reasoning: string;
    }
  /** Nothing to propose: the rung ends. Not a fault. */
  | { readonly kind: 'declined'; readonly reason: string };

/**
 * Proposes corrected commands; never runs anything. Adapters pass `models.contract.ts`.
 * What it uses up is charged to the account at once, and never more than is left.
 * @throws {ModelFault} when its provider does not answer; nothing is said about the command.
 */
export interface RepairModel {
  /** As tasks name it in `recovery.model`. */
  readonly name: string;
  propose(failed: FailedCommand, account: ModelAccount, signal: AbortSignal): Promise<Proposal>;
}
