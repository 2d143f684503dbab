import { contentHash } from './content-hash.ts';
import type { Verdict } from './verdict.ts';

/**
 * What a judgement said about which tree, without prose: two equal ones in a row mean that nothing moves.
 * Passes do not count: a validator that runs or not changes nothing about what is wrong.
 * Source: docs/rules.md (Recovery).
 */
export const judgementSignature = (
  verdicts: readonly Pick<Verdict, 'validator' | 'severity' | 'criteria' | 'evidence_hash'>[],
  tree: string | null,
): string => {
  const objections = verdicts
    .filter((verdict) => verdict.severity !== 'pass')
    .map(
      (verdict) => [verdict.validator, verdict.severity, [...verdict.criteria].sort(), verdict.evidence_hash] as const,
    )
    .sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] < b[1] ? -1 : 1));
  return contentHash([objections, tree]);
};
