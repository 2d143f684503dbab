import type { Brief } from '@fixpoint/contracts/events/recovery-events';
import type { ModelAccount } from '../model-account.ts';
import type { OutputEnds } from '../models.ts';
import type { AgentCall, AgentTool } from './agent-tools.ts';

/** Everything an agent is told about the work it is to do. */
export interface AgentBrief {
  /** The root's goal, verbatim. */
  readonly intent: string;
  readonly goal: string;
  /** What is run as the recipe, as people would read it. */
  readonly recipe: string;
  /** The checks that decide, as JSON; null: exit code 0 of the recipe decides. */
  readonly postcondition: string | null;
  /** What was tried and what objected; null for work that nobody has tried. */
  readonly brief: Brief | null;
  /** What was run last in this run, and what it printed; null where nothing has run before the agent. */
  readonly failed: {
    readonly command: string;
    readonly exitCode: number | null;
    readonly stdout: OutputEnds;
    readonly stderr: OutputEnds;
  } | null;
}

export interface AgentToolResult {
  /** `denied`: by a command rule, or because the task does not allow the tool; nothing ran. */
  readonly outcome: 'ok' | 'failed' | 'denied' | 'timed_out' | 'killed' | 'not_started' | 'cancelled';
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it was denied or did not start. */
  readonly detail: string;
}

/** What an agent may do. Each call is gated by the command rules, bounded and recorded. */
export interface AgentTools {
  readonly allowed: readonly AgentTool[];
  call(call: AgentCall): Promise<AgentToolResult>;
}

/** What an agent has to work with. */
export interface AgentMeans {
  readonly tools: AgentTools;
  /** What it uses up is charged here at once, and never more than is left. */
  readonly account: ModelAccount;
  /** Answers that it may give, each with the calls that it asks for: an end for one that goes in circles. */
  readonly mostSteps: number;
}

export interface AgentWork {
  /** `declined`: it did nothing, because there was nothing it could do. */
  readonly outcome: 'worked' | 'declined';
  /** For people: what it did, or why it did nothing. */
  readonly summary: string;
}

/**
 * Works in a workspace until it believes that the goal is reached, its account is empty or the signal says so. What it
 * believes counts for nothing: the check has the word. Adapters pass `agent-model.contract.ts`.
 * @throws {ModelFault} when its provider does not answer; nothing is said about the work.
 */
export interface AgentModel {
  /** As tasks name it. */
  readonly name: string;
  run(brief: AgentBrief, means: AgentMeans, signal: AbortSignal): Promise<AgentWork>;
}
