import type { NodeReady } from '@fixpoint/contracts/events/lineage-events';
import type { RunKind } from '@fixpoint/contracts/events/run-kind';
import type { Admitted, Task } from '../state.ts';
import { epicOfChild } from '../tree.ts';

/** Runs that bring verified work where it belongs: no evidence about the work, and judged by their own check alone. */
export const isLanding = (kind: RunKind): boolean => kind === 'integrate' || kind === 'deliver';

/** What a run of this kind merges or where it delivers, whoever starts it. */
export const landingOf = (state: Admitted, task: Task, kind: RunKind): Pick<NodeReady, 'merge' | 'deliver'> => ({
  merge: kind === 'integrate' ? mergeOf(state, task) : null,
  deliver: kind === 'deliver' && state.deliver !== null ? { git: state.deliver } : null,
});

const mergeOf = (state: Admitted, task: Task): NodeReady['merge'] => {
  const epic = epicOfChild(state, task);
  return epic === null || task.accepted === null ? null : { epic: epic.id, theirs: task.accepted, base: task.baseRef };
};
