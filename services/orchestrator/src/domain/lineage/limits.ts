import type { Bounds } from '@fixpoint/contracts/documents/protocol';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';

/** One question to one bound. Bounds are inclusive: what is asked for may be as large as the limit. */
export interface BoundAnswer {
  readonly allowed: boolean;
  readonly limit: number;
  readonly used: number;
  /** What would be used if it were allowed. */
  readonly asked: number;
}

const oneMore = (used: number, limit: number): BoundAnswer => ({ allowed: used < limit, limit, used, asked: used + 1 });

/** May the node run again after `unmet` normal runs? Source: docs/rules.md (Counters). */
export const executeBound = (unmet: number, bounds: Bounds): BoundAnswer => oneMore(unmet, bounds.execute);

/** May there be another judgement of the node that no fix is possible for? Source: docs/rules.md (Counters). */
export const judgeBound = (failed: number, bounds: Bounds): BoundAnswer => oneMore(failed, bounds.judge);

/** Inside a fix a recipe gets one chance, whatever the mode says. Source: docs/rules.md (Recovery). */
export const executeBoundInFix = (unmet: number): BoundAnswer => oneMore(unmet, 1);

/** May a fix be spawned by a task at this recovery depth? Source: docs/rules.md (Recovery). */
export const depthBound = (depth: number, bounds: Bounds): BoundAnswer => oneMore(depth, bounds.max_recovery_depth);

/** May the closure pay for another fix? Source: docs/rules.md (Recovery). */
export const fixBound = (attempts: number, bounds: Bounds): BoundAnswer =>
  oneMore(attempts, bounds.max_total_fix_attempts);

/** May the node have another run after this many that ended with evidence? Source: docs/rules.md (Counters). */
export const iterationsBound = (ended: number, bounds: Bounds): BoundAnswer => oneMore(ended, bounds.iterations);

/** May a check that could not run for the `failures`-th time be tried again? Source: docs/rules.md (The ladder). */
export const indeterminateBound = (failures: number, bounds: Bounds): BoundAnswer =>
  oneMore(failures - 1, bounds.indeterminate);

/**
 * May a run that so often in a row was not begun in time be gated once more, for nothing? Beyond it, queues are no excuse:
 * clocks disagree, and every new token would be old at once, or nobody is there.
 */
export const regateBound = (regates: number, bounds: Bounds): BoundAnswer => oneMore(regates, bounds.regates);

/** May an agent try once more what has stalled? Source: docs/rules.md (When a unit stalls). */
export const agentBound = (attempts: number, bounds: Bounds): BoundAnswer =>
  oneMore(attempts, bounds.auto_agent_max_attempts);

/** Faults that are the same however often they are met. */
const CERTAIN: readonly FaultClass[] = ['source'];

export const isCertain = (fault: FaultClass): boolean => CERTAIN.includes(fault);

interface FaultsSoFar {
  readonly class: FaultClass;
  readonly count: number;
  readonly atLastEvidence: number;
  /** The model or host that it speaks of; null for the machinery of our own. */
  readonly provider: string | null;
}

/** May a new run follow the `count`-th fault of a class? One that is certain is never tried again. */
export const faultBound = ({ count, atLastEvidence, ...fault }: FaultsSoFar, bounds: Bounds): BoundAnswer =>
  oneMore(count - atLastEvidence - 1, isCertain(fault.class) ? 0 : faultCap(fault, bounds));

/** A key that a provider refuses pauses that provider, once for all that need it; the unit waits for it. */
const faultCap = ({ class: name, provider }: Pick<FaultsSoFar, 'class' | 'provider'>, bounds: Bounds): number => {
  const cap = bounds.fault_caps?.[name] ?? bounds.faults;
  return name === 'provider_auth' && provider !== null ? Math.max(cap, bounds.faults) : cap;
};

/** May the lineage have this many more children? All of them or none. Source: docs/rules.md (Epics). */
export const childrenBound = (used: number, more: number, bounds: Bounds): BoundAnswer => {
  const limit = bounds.max_total_decomposition_children;
  return { allowed: used + more <= limit, limit, used, asked: used + more };
};

/** May a unit at this depth of splits have children? Source: docs/rules.md (Epics). */
export const splitDepthBound = (depth: number, bounds: Bounds): BoundAnswer =>
  oneMore(depth, bounds.max_decomposition_depth);

/** May a child whose merges failed this often be merged once more? Source: docs/rules.md (Integration). */
export const integrateBound = (failed: number, bounds: Bounds): BoundAnswer => oneMore(failed, bounds.integrate);

/** May a unit that failed to be recomposed this often be tried again without a human? Source: docs/rules.md (Recompose). */
export const recomposeBound = (failed: number, bounds: Bounds): BoundAnswer =>
  oneMore(failed, bounds.max_recompose_attempts);
