import type { Verdict } from '@fixpoint/contracts/verdict';
import { cutText } from './cut-text.ts';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * The same verdicts in at most about `limitBytes` of JSON, which an event must hold: findings, criteria and justifications
 * are shortened where the shares of all are too small. Severities, evidence hashes and the artifacts stay.
 */
export const fitVerdicts = (verdicts: readonly Verdict[], limitBytes: number): readonly Verdict[] => {
  if (bytesOf(verdicts) <= limitBytes) return verdicts;
  const share = Math.floor(limitBytes / verdicts.length);
  return verdicts.map((verdict) => fitVerdict(verdict, share));
};

const fitVerdict = (verdict: Verdict, share: number): Verdict => {
  let fitted = verdict;
  while (bytesOf(fitted) > share && isShortenable(fitted)) fitted = shortened(fitted);
  return fitted;
};

const isShortenable = ({ findings, criteria, justification }: Verdict): boolean =>
  findings.length + criteria.length > 0 || justification.length > 64;

const shortened = (verdict: Verdict): Verdict => {
  if (verdict.findings.length > 0) return { ...verdict, findings: firstHalf(verdict.findings) };
  if (verdict.criteria.length > 0) return { ...verdict, criteria: firstHalf(verdict.criteria) };
  return { ...verdict, justification: cutText(verdict.justification, Math.floor(verdict.justification.length / 2)) };
};

const firstHalf = <Item>(items: readonly Item[]): Item[] => items.slice(0, Math.floor(items.length / 2));
