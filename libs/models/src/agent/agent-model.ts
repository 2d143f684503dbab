import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import type { Brief } from '@fixpoint/contracts/events/recovery-events';

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
}

/** Tools by the names that a task allows (`recovery.agent_tools`). */
export const AGENT_TOOLS = ['shell'] as const;
export type AgentTool = (typeof AGENT_TOOLS)[number];

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
  /** Text for /bin/sh, in the workspace. */
  shell(command: string): Promise<AgentToolResult>;
}

/** What an agent may use up. */
export interface AgentBounds {
  readonly timeMs: number;
  /** Null: whatever the account allows. */
  readonly moneyMicros: number | null;
  readonly tokens: number | null;
}

export interface AgentWork {
  /** `declined`: it did nothing, because there was nothing it could do. */
  readonly outcome: 'worked' | 'declined';
  /** For people: what it did, or why it did nothing. */
  readonly summary: string;
  readonly spent: { readonly moneyMicros: number; readonly tokens: number };
}

/**
 * Works in a workspace until it believes that the goal is reached, its bounds are used up or the signal says so. What it
 * believes counts for nothing: the check has the word. Adapters pass `agent-model.contract.ts`.
 * @throws {ModelFault} when its provider does not answer; nothing is said about the work.
 */
export interface AgentModel {
  /** As tasks name it. */
  readonly name: string;
  run(
    brief: AgentBrief,
    within: { readonly tools: AgentTools; readonly bounds: AgentBounds },
    signal: AbortSignal,
  ): Promise<AgentWork>;
}

/** A provider failed, told by what it answered and never by its words. */
export class ModelFault extends Error {
  override readonly name = 'ModelFault';
  readonly faultClass: Extract<FaultClass, 'rate_limit' | 'network' | 'provider_auth'>;

  constructor(faultClass: ModelFault['faultClass'], detail: string, cause?: unknown) {
    super(detail, { cause });
    this.faultClass = faultClass;
  }
}
