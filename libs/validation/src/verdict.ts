import { contentHash } from '@fixpoint/contracts/content-hash';
import { cappedSeverity, type ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import type { Finding, Verdict } from '@fixpoint/contracts/verdict';
import { cutText } from './cut-text.ts';

/** What asking one validator came to. */
export type ValidatorAnswer =
  | ({ readonly answer: 'pass' | 'fail' } & Evidence)
  /** The answer is unusable or the declaration wrong: halts. */
  | { readonly answer: 'error'; readonly justification: string }
  /** The machinery failed: nothing was said about the work. */
  | { readonly answer: 'fault'; readonly class: FaultClass; readonly detail: string };

export interface Evidence {
  readonly justification: string;
  readonly findings?: readonly Finding[];
  readonly criteria?: readonly string[];
  /** Artifact with the whole output. */
  readonly output?: string | null;
}

/** Rule of a finding that only repeats an exit code. */
export const EXIT_CODE_RULE = 'exit_code';

// An event holds 64 KiB with the verdicts of all validators in it.
const longestJustification = 2048;
const longestMessage = 256;
const mostFindings = 20;

/**
 * The verdict of a validator. Both severities are kept; an error is a blocker that no cap touches.
 * @returns null for a fault, which is no verdict.
 */
export const verdictOf = (
  spec: Pick<ValidatorSpec, 'id' | 'severity' | 'severity_cap' | 'overridable'>,
  answer: ValidatorAnswer,
  durationMs: number,
): Verdict | null => {
  if (answer.answer === 'fault') return null;
  const said = {
    validator: spec.id,
    justification: cutText(answer.justification, longestJustification),
    duration_ms: durationMs,
  };
  if (answer.answer === 'error') {
    const blocker = { severity: 'blocker', original_severity: 'blocker', error: true, overridable: false } as const;
    return { ...said, ...blocker, criteria: [], findings: [], evidence_hash: evidenceHash([]), output: null };
  }
  const original = answer.answer === 'pass' ? 'pass' : spec.severity;
  const findings = answer.findings ?? [];
  return {
    ...said,
    severity: cappedSeverity(original, spec.severity_cap),
    original_severity: original,
    error: false,
    overridable: spec.overridable,
    criteria: [...(answer.criteria ?? [])],
    findings: findings
      .slice(0, mostFindings)
      .map((finding) => ({ ...finding, message: cutText(finding.message, longestMessage) })),
    evidence_hash: evidenceHash(findings),
    output: answer.output ?? null,
  };
};

/**
 * Hash of what was found where: equal hashes mean that nothing moved. Prose does not count, nor does an exit code or a
 * criterion that names no place (criteria are compared beside it).
 */
export const evidenceHash = (findings: readonly Finding[]): string => {
  const places = findings
    .filter(isEvidence)
    .map(({ rule, path, line, criterion }) => [rule, path, line, criterion] as const);
  const texts = places.map((place) => JSON.stringify(place));
  return contentHash([...new Set(texts)].sort());
};

const isEvidence = ({ rule, path, criterion }: Finding): boolean =>
  path !== null || (rule !== EXIT_CODE_RULE && criterion === null);
