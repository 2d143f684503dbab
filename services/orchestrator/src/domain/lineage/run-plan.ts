import type { NodeReady } from '@fixpoint/contracts/events/lineage-events';
import type { RunKind } from '@fixpoint/contracts/events/run-kind';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Basis } from './basis.ts';

/** What the next run of a task is to be. */
export interface RunPlan {
  readonly kind: RunKind;
  readonly purpose: NodeReady['purpose'];
  readonly ref: WorkspaceRef | null;
  readonly judges: number | null;
  readonly nodeIndex: number;
  /** Of an `integrate` run. */
  readonly merge?: NodeReady['merge'];
  /** Of a `deliver` run. */
  readonly deliver?: NodeReady['deliver'];
  /** Left out: nothing but the history. */
  readonly basis?: Basis;
}

type Planned = Pick<
  NodeReady,
  | ('run_kind' | 'purpose' | 'workspace_ref' | 'judges' | 'node_index' | 'merge' | 'deliver')
  | ('verdicts_of' | 'decisions')
>;

/** As events say it. */
export const wirePlan = (plan: RunPlan): Planned => ({
  run_kind: plan.kind,
  purpose: plan.purpose,
  node_index: plan.nodeIndex,
  workspace_ref: plan.ref,
  judges: plan.judges,
  merge: plan.merge ?? null,
  deliver: plan.deliver ?? null,
  verdicts_of: plan.basis?.verdictsOf ?? null,
  decisions: [...(plan.basis?.decisions ?? [])],
});

/** The same back from an event: whatever a plan has must survive the queue. */
export const planIn = (planned: Planned & Pick<NodeReady, 'source'>): RunPlan => ({
  kind: planned.run_kind,
  purpose: planned.purpose,
  ref: planned.workspace_ref,
  judges: planned.judges,
  nodeIndex: planned.node_index,
  merge: planned.merge,
  deliver: planned.deliver,
  basis: { verdictsOf: planned.verdicts_of, decisions: planned.decisions, source: planned.source },
});
