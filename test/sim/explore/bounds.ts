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

/** One split into two children, one conflict, one fix, one fault, and one more failure than it takes to be split. */
export const smallBounds = (): Exploration =>
  exploration({ faults: 1, conflicts: 1, objections: 1, unmet: 3, splits: 1, blocks: 0, deadlines: 0 });

/** The same with a hard blocker, the deadline, and enough failures for an assembly that fails twice. */
export const fullBounds = (): Exploration =>
  exploration({ faults: 1, conflicts: 1, objections: 1, unmet: 5, splits: 1, blocks: 1, deadlines: 1 });
