import type { Bounds } from '@fixpoint/contracts/documents/protocol';
import type { Task } from './state.ts';

/** The bounds of a node with what humans added to them. */
export const withGrants = (bounds: Bounds, { node: { granted } }: Pick<Task, 'node'>): Bounds => ({
  ...bounds,
  execute: bounds.execute + granted.execute,
  judge: bounds.judge + granted.judge,
  iterations: bounds.iterations + granted.iterations,
  indeterminate: bounds.indeterminate + granted.indeterminate,
});
