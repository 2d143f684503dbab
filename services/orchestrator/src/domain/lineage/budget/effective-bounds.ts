import type { Bounds, ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { Admitted, Task } from '../state.ts';

/** Bounds of the lineage as a whole; every other one is each unit's own. Source: docs/rules.md (Counters). */
const SHARED: readonly string[] = [
  'max_decomposition_depth',
  'max_total_decomposition_children',
  'max_money_micros',
  'max_tokens',
  'run_money_micros',
  'run_tokens',
  'deadline_ms',
] satisfies (keyof Bounds)[];

export const isShared = (bound: string): boolean => SHARED.includes(bound);

interface Where {
  readonly mode: ModeSpec;
  readonly state: Admitted;
}

/** What holds for a task: the bounds of the mode, and what humans gave the lineage and the task's unit beyond them. */
export const boundsOf = ({ mode, state: { budget } }: Where, { unit }: Task): Bounds => ({
  ...mode.bounds,
  ...budget.extended,
  ...budget.extendedUnits[unit],
});
