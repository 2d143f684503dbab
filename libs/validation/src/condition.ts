import type { Json } from '@fixpoint/contracts/json';
import { askCelOnce } from './cel.ts';

/** What a condition may look at. */
export interface ConditionValues {
  readonly inputs: Readonly<Record<string, Json>>;
  /** By id, of the nodes before. */
  readonly nodes: Readonly<Record<string, { readonly outcome: string; readonly output: Json }>>;
}

export type ConditionAnswer = { readonly holds: boolean } | { readonly detail: string };

export interface ConditionLimits {
  /** For one condition: an expression of a document may hold a pattern that never ends, and the whole process waits for it. */
  readonly limitMs: number;
  /** For all together: each node that is skipped asks the condition of the next. */
  readonly togetherMs: number;
}

const LIMITS: ConditionLimits = { limitMs: 1_000, togetherMs: 5_000 };

/**
 * Asks the `if` of nodes, for one step of one lineage.
 * `detail` says why there is no answer; it repeats the expression and no value.
 */
export const conditionAsker = ({ limitMs, togetherMs }: ConditionLimits = LIMITS) => {
  let left = togetherMs;
  return (condition: string, values: ConditionValues): ConditionAnswer => {
    if (left <= 0) return { detail: `if: ${condition}: the conditions before it took ${togetherMs} ms together` };
    const began = performance.now();
    const answer = askCondition(condition, values, Math.min(limitMs, left));
    left -= performance.now() - began;
    return answer;
  };
};

/** {@link conditionAsker}, for one condition. */
export const askCondition = (
  condition: string,
  { inputs, nodes }: ConditionValues,
  limitMs = LIMITS.limitMs,
): ConditionAnswer => {
  const known = Object.entries(nodes).map(([id, { outcome, output }]) => [id, { outcome, output }] as const);
  const values = { inputs, nodes: Object.fromEntries(known) };
  const answer = askCelOnce('condition', condition, { values, limitMs });
  return answer.outcome === 'answered' ? { holds: answer.holds } : { detail: `if: ${condition}: ${answer.detail}` };
};
