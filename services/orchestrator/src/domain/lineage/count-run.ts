import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { NodeCounters } from '@fixpoint/contracts/events/ended-events';
import type { RunResult } from './commands.ts';
import { nodeOf, refOf, type Turn, unitOf } from './lookup.ts';
import type { Run, Task } from './state.ts';
import { isRecomposing } from './tree.ts';

interface Flight {
  readonly task: Task;
  readonly run: Run;
}

export interface Finding {
  /** Outcome of the judgement; null when the run went straight on. */
  readonly judged: string | null;
  readonly signature: string | null;
  /** No fix is possible for what was found. */
  readonly unfixable: boolean;
  readonly nextAt: string | null;
}

export const NOT_JUDGED: Finding = { judged: null, signature: null, unfixable: false, nextAt: null };

type Counted = { readonly result: RunResult; readonly unfixable: boolean };

/** The node's counters once this run is counted. Absolute, so that a repeated event changes nothing. */
export const countersAfter = (turn: Turn, { task, run }: Flight, found: Counted): NodeCounters => {
  const { execute, judge, iterations, indeterminate } = task.node.counters;
  const { outcome } = found.result;
  // A failed recompose counts as that, and nowhere else.
  const isOrdinary = !isRecomposing(turn.state, task);
  return {
    execute: execute + (isOrdinary && run.kind === 'normal' && outcome === 'unmet' ? 1 : 0),
    judge: judge + (isOrdinary && found.unfixable ? 1 : 0),
    iterations: iterations + (outcome === 'indeterminate' ? 0 : 1),
    indeterminate: indeterminate + (outcome === 'indeterminate' ? 1 : 0),
  };
};

/** An agent that has worked has used its attempt, whatever came of it. */
export const agentAttemptsAfter = (turn: Turn, task: Task, { kind }: Run): { agent_attempts?: number } =>
  kind === 'agent' ? { agent_attempts: unitOf(turn.state, task).agentAttempts + 1 } : {};

export const countRun = (
  turn: Turn,
  { task, run }: Flight,
  found: Finding & { readonly result: RunResult },
): LineageEvent => {
  const { result } = found;
  return {
    type: 'run_counted',
    data: {
      ...refOf(turn.state, task),
      run: run.run,
      node_id: nodeOf(task).id,
      run_kind: run.kind,
      outcome: result.outcome,
      judged: found.judged,
      signature: found.signature,
      counters: countersAfter(turn, { task, run }, found),
      ...agentAttemptsAfter(turn, task, run),
      rung: result.rung,
      exit_code: result.exit_code,
      recipe_hash: result.recipe_hash,
      workspace_ref: result.workspace_ref ?? run.startRef,
      output: result.output,
      output_artifact: result.output_artifact,
      next_at: found.nextAt,
    },
  };
};
