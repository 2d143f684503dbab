import { type ModeSpec, neededPasses } from '@fixpoint/contracts/documents/protocol';
import type { JudgementOutcome } from '@fixpoint/contracts/events/validator-events';
import type { HaltType, Verdict } from '@fixpoint/contracts/verdict';

export type Phase = 'before' | 'after';

export interface Question {
  /** Mandatory: an overridable blocker means something else before than after execution. */
  readonly phase: Phase;
  /** In protocol order. */
  readonly verdicts: readonly Pick<Verdict, 'validator' | 'severity' | 'error' | 'overridable'>[];
  readonly consensus: ModeSpec['consensus'];
  readonly recoverOn: ModeSpec['recover_on'];
  /** Validators whose warning or overridable blocker is accepted: by a signed decision, or by policy `best_effort`. */
  readonly lifted: readonly string[];
}

export interface Decision {
  readonly outcome: JudgementOutcome;
  /** For people and metrics; snake_case. */
  readonly reason: string;
  /** Null when the run may go on. */
  readonly haltType: HaltType | null;
  readonly rawHaltType: string | null;
  /** Validators that a fix has to satisfy, in protocol order; empty unless the outcome is `recover`. */
  readonly triggering: readonly string[];
}

type Judged = Question['verdicts'][number];

/**
 * What verdicts together mean. First match wins: nothing said, an error, a non-overridable blocker (no decision lifts
 * these), then an overridable blocker that is left, then the consensus. A warning is never a pass.
 * Source: docs/rules.md (Judging); scenarios X04, X05, X38.
 */
export const decideVerdicts = (question: Question): Decision => {
  const { verdicts } = question;
  if (verdicts.length === 0) return stopped('halt', 'validator_error', 'no_verdicts');
  if (verdicts.some(({ error }) => error)) return stopped('halt', 'validator_error', 'validator_error');
  if (verdicts.some(isFinalBlocker)) return stopped('halt', 'blocker', 'blocked');
  const left = verdicts.filter((verdict) => !isLifted(verdict, question));
  const blockers = left.filter(({ severity }) => severity === 'blocker');
  return blockers.length > 0 ? decideBlockers(left, question) : decideConsensus(left, question);
};

const isFinalBlocker = ({ severity, overridable }: Judged): boolean => severity === 'blocker' && !overridable;

const isLifted = ({ validator, severity }: Judged, { lifted }: Question): boolean =>
  severity !== 'pass' && lifted.includes(validator);

const decideBlockers = (left: readonly Judged[], { phase, recoverOn }: Question): Decision =>
  phase === 'after' && recoverOn.includes('blocker')
    ? recover('overridable_blocker', left, recoverOn)
    : stopped('blocked_overridable', 'blocker', 'blocked_overridable');

const decideConsensus = (left: readonly Judged[], { phase, verdicts, consensus, recoverOn }: Question): Decision => {
  const warnings = left.filter(({ severity }) => severity === 'warning').length;
  const passes = verdicts.length - warnings;
  if (passes >= neededPasses(consensus, verdicts.length)) return accepted(warnings, verdicts.length - left.length);
  if (phase === 'after' && recoverOn.includes('warning')) return recover('warnings', left, recoverOn);
  return stopped('escalate', 'escalate', 'warnings');
};

const accepted = (warnings: number, lifts: number): Decision => ({
  outcome: warnings + lifts > 0 ? 'proceed_with_log' : 'proceed',
  reason: warnings > 0 ? 'consensus_despite_warnings' : lifts > 0 ? 'lifted' : 'passed',
  haltType: null,
  rawHaltType: null,
  triggering: [],
});

const recover = (reason: string, left: readonly Judged[], recoverOn: Question['recoverOn']): Decision => ({
  outcome: 'recover',
  reason,
  haltType: null,
  rawHaltType: null,
  triggering: left
    .filter(({ severity }) => severity !== 'pass' && recoverOn.includes(severity))
    .map(({ validator }) => validator),
});

const stopped = (outcome: JudgementOutcome, haltType: HaltType, rawHaltType: string): Decision => ({
  outcome,
  reason: rawHaltType,
  haltType,
  rawHaltType,
  triggering: [],
});
