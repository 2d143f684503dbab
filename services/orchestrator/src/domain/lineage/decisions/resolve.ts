import type { DecisionOf } from '@fixpoint/contracts/human-decision';
import type { GitSource } from '@fixpoint/contracts/workspace';
import { Refused } from '@fixpoint/decider/refused';
import { closeUnit } from '../enter-node.ts';
import { excludeChild } from '../epics/exclude.ts';
import { followedBy, startOf, type Turn } from '../lookup.ts';
import { checkRun, start } from '../start-run.ts';
import type { Facts, Task } from '../state.ts';

interface Resolution {
  readonly decision: DecisionOf<'resolve'>;
  readonly signature: string;
  /** Id of the handoff that is decided. */
  readonly handoff: string;
  readonly reason: string;
}

/**
 * A human says that it is done: only the check is asked, on a ref of theirs if they named one. Work that is verified and
 * only was not delivered is complete as it is: to ask its check would lead to the same delivery again.
 */
export const resolveUnit = (
  turn: Turn,
  unitTask: Task,
  { decision, signature, handoff, reason }: Resolution,
): Facts => {
  if (decision.exclude_children.length > 0) {
    return excludeAll(turn, unitTask, { children: decision.exclude_children, decision: handoff, reason });
  }
  if (unitTask.status !== 'open') throw new Refused('unit_superseded', 'name the children that it goes on without');
  if (unitTask.landing === 'deliver' && decision.ref === null) return closeUnit(turn, unitTask);
  const { source: known } = turn.state;
  if (decision.ref !== null && known === null) throw new Refused('no_source', 'the lineage has no repository');
  const source = decision.ref === null || known === null ? null : { url: known.url, ref: decision.ref };
  const plan = checkRun(unitTask, 'decided', source === null ? startOf(unitTask) : comparedWith(unitTask, source));
  return start(turn, unitTask, { ...plan, basis: { verdictsOf: null, decisions: [signature], source } });
};

/** What the human's ref is compared with; the source's own ref as it is now is nobody's addition. */
const comparedWith = (unitTask: Task, { ref }: GitSource): Task['accepted'] => {
  const known = startOf(unitTask) ?? unitTask.node.last?.ref ?? null;
  const isOther = known?.source !== undefined && known.source !== null && known.source.ref !== ref;
  return isOther ? known : null;
};

interface Exclusions {
  readonly children: readonly string[];
  readonly decision: string;
  readonly reason: string;
}

/** Children that will never be done hold the unit no longer; with the last of them it goes on. */
const excludeAll = (turn: Turn, unitTask: Task, { children: [child, ...rest], ...said }: Exclusions): Facts => {
  if (child === undefined) return [];
  if (turn.state.tasks[child]?.parent !== unitTask.id) throw new Refused('child_unknown', child);
  return followedBy(turn, excludeChild(turn, { child, ...said }), (later) =>
    excludeAll(later, unitTask, { children: rest, ...said }),
  );
};
