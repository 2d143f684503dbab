import { boundsOf } from './budget/effective-bounds.ts';
import { progressAt } from './evolve-ready.ts';
import { withGrants } from './granted.ts';
import { type BoundAnswer, executeBound, indeterminateBound, iterationsBound, judgeBound } from './limits.ts';
import type { Turn } from './lookup.ts';
import type { Task } from './state.ts';

type Counter = 'execute' | 'judge' | 'iterations' | 'indeterminate';

/** What stands in the way of another run of a node. */
export interface UsedUp<Name extends Counter = Counter> extends Pick<BoundAnswer, 'limit' | 'used'> {
  readonly counter: Name;
}

/** Whatever it is for, a run that ends with evidence adds to these. */
export const EVERY_RUN = ['iterations'] as const;
/** An ordinary run adds to any of these. */
export const ORDINARY = ['execute', 'judge', 'iterations'] as const;
/** A recompose that fails counts as that; beside it only what every run counts. */
export const ASSEMBLY = ['iterations', 'indeterminate'] as const;
export const ALL = ['execute', 'judge', 'iterations', 'indeterminate'] as const;

interface Asked<Name extends Counter> {
  readonly nodeIndex: number;
  readonly counters: readonly Name[];
}

/**
 * The first of these counters that is used up at a node, with all that humans added to it; null when there is room for
 * another run. A task comes back to nodes that it had left: after a merge that conflicted, a retry, a recompose.
 */
export const usedUpAt = <Name extends Counter>(
  turn: Turn,
  task: Task,
  { nodeIndex, counters }: Asked<Name>,
): UsedUp<Name> | null => {
  const node = progressAt(task, nodeIndex);
  const bounds = withGrants(boundsOf(turn, task), { node });
  const answers: Readonly<Record<Counter, BoundAnswer>> = {
    execute: executeBound(node.counters.execute, bounds),
    judge: judgeBound(node.counters.judge, bounds),
    iterations: iterationsBound(node.counters.iterations, bounds),
    indeterminate: indeterminateBound(node.counters.indeterminate, bounds),
  };
  const counter = counters.find((name) => !answers[name].allowed);
  return counter === undefined ? null : { counter, limit: answers[counter].limit, used: answers[counter].used };
};
