import type { Brief } from '@fixpoint/contracts/events/recovery-events';
import type { Verdict } from '@fixpoint/contracts/verdict';

/** Room for verdicts in one of our events: an event is at most 64 KiB, and goal, refs and the like stand beside them. */
const VERDICTS_BYTES = 32 * 1024;
/** An event with a brief also carries nodes, intent and refs. */
const EVENT_BYTES = 56 * 1024;
const LEAST_BRIEF_BYTES = 2 * 1024;
const MOST_FINDINGS = 20;

export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A text as it is, or its beginning with a mark that says how much is missing and where the whole is. */
export const bounded = (text: string, bytes: number, whole: string): string => {
  if (jsonBytes(text) <= bytes) return text;
  // JSON writes a character in at most 6 bytes, a UTF-16 unit in at most 3 as UTF-8.
  let kept = text.slice(0, bytes);
  while (jsonBytes(kept) > bytes) kept = kept.slice(0, Math.floor(kept.length * 0.8));
  return `${kept.toWellFormed()} [cut: ${kept.length} of ${text.length} characters; ${whole}]`;
};

const wholeOf = (verdict: Verdict): string =>
  verdict.output === null ? 'the whole is in the judgement' : `the whole output is artifact ${verdict.output}`;

/** Verdicts as they are where they fit into an event; else with cut texts and fewer findings, and a mark. */
export const boundedVerdicts = (verdicts: readonly Verdict[]): Verdict[] => {
  if (jsonBytes(verdicts) <= VERDICTS_BYTES) return [...verdicts];
  const each = Math.floor(VERDICTS_BYTES / verdicts.length);
  return verdicts.map((verdict) => ({
    ...verdict,
    justification: bounded(verdict.justification, Math.floor(each / 2), wholeOf(verdict)),
    findings: fitting(verdict.findings.slice(0, MOST_FINDINGS), Math.floor(each / 4)),
    criteria: fitting(verdict.criteria, Math.floor(each / 8)),
  }));
};

const fitting = <Item>(items: readonly Item[], bytes: number): Item[] => {
  const kept = [...items];
  while (kept.length > 0 && jsonBytes(kept) > bytes) kept.pop();
  return kept;
};

type Said = { readonly justification: string };

const longest = (said: readonly Said[]): number =>
  said.reduce((most, each) => Math.max(most, jsonBytes(each.justification)), 0);

/**
 * A brief that fits into an event beside `rest` bytes. The intent is never cut; what failed is whole wherever there is
 * room, and where there is not the longest texts are cut first, each with an explicit mark.
 */
export const boundedBrief = (brief: Brief, rest: number): Brief => {
  const room = Math.max(LEAST_BRIEF_BYTES, EVENT_BYTES - rest - jsonBytes(brief.intent));
  let limit = longest([...brief.justifications, ...brief.prior_failures]);
  let fitted = brief;
  while (limit > 64 && jsonBytes([fitted.justifications, fitted.prior_failures]) > room) {
    limit = Math.floor(limit * 0.7);
    fitted = cutTo(brief, limit);
  }
  return fitted;
};

const cutTo = (brief: Brief, limit: number): Brief => {
  const cut = <Each extends Said>(said: Each): Each => ({
    ...said,
    justification: bounded(said.justification, limit, 'the whole is in the judgement'),
  });
  return { ...brief, justifications: brief.justifications.map(cut), prior_failures: brief.prior_failures.map(cut) };
};
