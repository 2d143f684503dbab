import type { Granted } from '@fixpoint/contracts/events/handoff-events';

export const NOTHING: Granted = { execute: 0, judge: 0, iterations: 0, indeterminate: 0 };

/**
 * What a decision adds to the bounds of the node: room for all that the runs which it starts may come to.
 * Source: docs/rules.md (Human floor).
 */
export const GRANTED = {
  retry: { execute: 1, judge: 1, iterations: 1, indeterminate: 1 },
  amend: { execute: 3, judge: 1, iterations: 3, indeterminate: 1 },
  resolve: { execute: 0, judge: 1, iterations: 1, indeterminate: 1 },
} as const satisfies Readonly<Record<string, Granted>>;
