import type { Check, Postcondition } from '@fixpoint/contracts/documents/task';
import type { Json } from '@fixpoint/contracts/json';
import type { CommandResult } from '@fixpoint/execution/runner';
import { askCelOnce, type CelAnswer } from './cel.ts';
import { askJsonSchema, type SchemaAnswer } from './json-schema-check.ts';

export type IndeterminateReason =
  /** The command does not exist, cannot be executed, or nothing was started for another reason. */
  | 'not_started'
  /** Ended by a signal, so it has said nothing. */
  | 'killed'
  | 'timed_out'
  | 'cancelled'
  /** A command rule refused it. */
  | 'denied'
  /** The check itself is wrong: an expression or schema that cannot be used, an unknown primitive. */
  | 'wrong_check';

/** What a check says. `indeterminate`: it could not be run, which is neither met nor unmet and never repaired. */
export type CheckResult =
  | { readonly outcome: 'met'; readonly detail: string }
  | { readonly outcome: 'unmet'; readonly detail: string }
  | { readonly outcome: 'indeterminate'; readonly reason: IndeterminateReason; readonly detail: string };

/** What the last recipe left behind, for `json_schema` and `cel` checks. */
export interface RunEvidence {
  /** The node's output: stdout as JSON, else as text; null when there is none. */
  readonly output: Json;
  /** Null when nothing ran or it did not end by itself. */
  readonly exitCode: number | null;
  /** Heads. */
  readonly stdout: string;
  readonly stderr: string;
}

/** How checks reach the world. The executor records and rules on each command here; the validator runs it in a copy. */
export interface CheckDeps {
  /** Runs a shell text. Usually {@link commandCheckResult} of what the runner says. */
  command(text: string, timeoutMs: number): Promise<CheckResult>;
  primitive(name: string, input: Readonly<Record<string, Json>>, timeoutMs: number): Promise<CheckResult>;
  readonly evidence: RunEvidence;
  readonly signal?: AbortSignal;
}

/**
 * Evaluates the checks of a postcondition in order. The first unmet one decides; else the first one that could not be
 * run; only all of them together make it met. Each has its own time-out. After an abort nothing more is started.
 */
export const evaluatePostcondition = async (postcondition: Postcondition, deps: CheckDeps): Promise<CheckResult> => {
  let unsure: CheckResult | null = null;
  for (const check of postcondition.all) {
    if (deps.signal?.aborted === true) return cancelled;
    const result = await evaluateCheck(check, deps);
    if (result.outcome === 'unmet') return result;
    if (result.outcome === 'indeterminate') unsure ??= result;
  }
  return unsure ?? { outcome: 'met', detail: '' };
};

const cancelled: CheckResult = { outcome: 'indeterminate', reason: 'cancelled', detail: 'cancelled before the check' };

/** One check. */
const evaluateCheck = async (check: Check, deps: CheckDeps): Promise<CheckResult> => {
  if ('command' in check) return deps.command(check.command, check.timeout_ms);
  if ('primitive' in check) return deps.primitive(check.primitive, check.with, check.timeout_ms);
  if ('json_schema' in check) {
    return schemaCheckResult(askJsonSchema(check.json_schema, deps.evidence.output, check.timeout_ms));
  }
  return celCheckResult(
    askCelOnce('check', check.cel, { values: celEvidence(deps.evidence), limitMs: check.timeout_ms }),
  );
};

/** The variables of an expression about a run. An exit code that nothing gave is null, which no comparison holds of. */
export const celEvidence = ({ output, exitCode, stdout, stderr }: RunEvidence): Record<string, unknown> => ({
  output,
  exit_code: exitCode === null ? null : BigInt(exitCode),
  stdout,
  stderr,
});

const indeterminate = (reason: IndeterminateReason, detail: string): CheckResult => ({
  outcome: 'indeterminate',
  reason,
  detail,
});

const schemaCheckResult = (answer: SchemaAnswer): CheckResult => {
  switch (answer.outcome) {
    case 'valid':
      return { outcome: 'met', detail: '' };
    case 'invalid':
      return { outcome: 'unmet', detail: `output${answer.place} ${answer.detail}` };
    case 'wrong_schema':
      return indeterminate('wrong_check', answer.detail);
    case 'timed_out':
      return indeterminate('timed_out', answer.detail);
    default:
      return answer satisfies never;
  }
};

/** An expression that does not fit the output at hand is not met by it: a recipe that failed prints no fitting output. */
const celCheckResult = (answer: CelAnswer): CheckResult => {
  switch (answer.outcome) {
    case 'answered':
      return answer.holds ? { outcome: 'met', detail: '' } : { outcome: 'unmet', detail: 'the expression is false' };
    case 'no_answer':
      return { outcome: 'unmet', detail: `the expression cannot be answered of this output: ${answer.detail}` };
    case 'wrong_expression':
      return indeterminate('wrong_check', answer.detail);
    case 'timed_out':
      return indeterminate('timed_out', answer.detail);
    default:
      return answer satisfies never;
  }
};

// 126: found but not executable, 127: not found (POSIX 2.8.2).
const couldNotRun: Readonly<Record<number, string>> = { 126: 'cannot be executed', 127: 'command not found' };

// A shell reports a child that a signal ended as 128 + its number. Others above 128 are ordinary codes (git uses 128, 129).
const endingSignals = [2, 3, 4, 6, 7, 8, 9, 11, 13, 15];

/** What a command that was run as a check says: only its own exit code is an answer. */
export const commandCheckResult = (result: CommandResult): CheckResult => {
  switch (result.status) {
    case 'exited':
      return result.exitCode === null ? indeterminate('killed', 'no exit code') : exitCheckResult(result.exitCode);
    case 'signaled':
      return indeterminate('killed', `ended by ${result.signal ?? 'a signal'}`);
    case 'timed_out':
      return indeterminate('timed_out', `not finished after ${Math.round(result.durationMs)} ms`);
    case 'cancelled':
      return indeterminate('cancelled', 'cancelled');
    case 'not_started':
      return indeterminate('not_started', result.error?.detail ?? 'not started');
    default:
      return result.status satisfies never;
  }
};

const exitCheckResult = (code: number): CheckResult => {
  if (code === 0) return { outcome: 'met', detail: '' };
  const problem = couldNotRun[code];
  if (problem !== undefined) return indeterminate('not_started', `exit code ${code}: ${problem}`);
  if (endingSignals.includes(code - 128)) return indeterminate('killed', `exit code ${code}: signal ${code - 128}`);
  return { outcome: 'unmet', detail: `exit code ${code}` };
};
