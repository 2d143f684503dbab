import { mode, taskSpec, validator } from '@fixpoint/orchestrator/domain/lineage/lineage.fixture';
import type { Allowed } from './answers.ts';
import type { Exploration } from './explore.ts';

const exploration = (allowed: Allowed): Exploration => ({
  mode: mode(
    {
      ...{ execute: 1, max_recovery_depth: 1, max_total_fix_attempts: 1, iterations: 4, judge: 1, faults: 1 },
      ...{ max_decomposition_depth: 1, max_total_decomposition_children: 2, auto_agent_max_attempts: 0 },
      ...{ integrate: 2, max_recompose_attempts: 2 },
    },
    [validator('lint')],
  ),
  spec: taskSpec(),
  allowed,
  mostStates: Number.POSITIVE_INFINITY,
});

const NOTHING: Allowed = {
  ...{ faults: 0, conflicts: 0, objections: 0, unmet: 0, splits: 0, blocks: 0, withheld: 0, deadlines: 0 },
  ...{ decisions: 0, cancels: 0 },
};

/** One split into two children, one conflict, one fix, one fault, and one more failure than it takes to be split. */
export const smallBounds = (): Exploration =>
  exploration({ ...NOTHING, faults: 1, conflicts: 1, objections: 1, unmet: 3, splits: 1 });

/** One decision of a human of each kind, and a cancel, at every moment of histories with less in them. */
export const peopleBounds = (): Readonly<Record<string, Exploration>> => ({
  cancels: exploration({ ...NOTHING, unmet: 3, splits: 1, conflicts: 1, blocks: 1, decisions: 1, cancels: 1 }),
  withheld: exploration({ ...NOTHING, unmet: 2, faults: 1, withheld: 1, decisions: 1 }),
  repairs: exploration({ ...NOTHING, unmet: 3, splits: 1, objections: 1, decisions: 1 }),
});

/** One split into two children, one fix, one merge that fails, one fault, one decision, one cancel, one hard blocker. */
export const fullBounds = (): Exploration =>
  exploration({
    ...{ ...NOTHING, faults: 1, conflicts: 1, objections: 1, unmet: 4, splits: 1, blocks: 1 },
    ...{ withheld: 1, decisions: 1, cancels: 1 },
  });
