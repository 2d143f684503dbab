import type { Admitted, Task } from '@fixpoint/orchestrator/domain/lineage/state';
import { isLive } from '@fixpoint/orchestrator/domain/lineage/tree';
import { isMerging } from './epics.ts';
import type { Rule } from './rule.ts';

const goesOn = ({ current, queued, retry }: Task): boolean => current !== null || queued !== null || retry !== null;

/** A child that is verified, or whose merge is to be made once more, and waits until that of a sibling has ended. */
const waitsForItsTurn = (state: Admitted, task: Task): boolean => {
  const isDone = task.nodeDone && task.nodeIndex === task.nodes.length - 1;
  const siblings = state.epics[task.memberOf ?? '']?.children ?? [];
  const isItsTurnNext = isDone || task.landing === 'integrate';
  return isItsTurnNext && siblings.some((child) => isMerging(state.tasks[child.task]));
};

const waitsForItself = (state: Admitted, task: Task): boolean => {
  const unit = state.units[task.id];
  const closure = Object.values(state.tasks).filter((each) => each.unit === task.id && each.status === 'open');
  return (
    closure.some(goesOn) ||
    waitsForItsTurn(state, task) ||
    unit?.request.open === true ||
    unit?.request.retryAt != null ||
    unit?.handoff != null
  );
};

/** Its children, while one of them is live, or the next try to assemble them. */
const waitsForChildren = (state: Admitted, task: Task): boolean =>
  Object.values(state.epics)
    .filter((epic) => epic.task === task.id && !epic.closed)
    .some(
      ({ children, recompose }) =>
        recompose.retryAt !== null || children.some((child) => isLive(state.tasks[child.task] ?? { status: 'ended' })),
    );

/** Nothing starts for want of time, money or tokens, and a human is asked for more of them at the root. */
const isWithBudget = ({ deadlinePassed, budget, units, root }: Admitted): boolean =>
  (deadlinePassed || budget.exceeded) && units[root]?.handoff !== null;

const everyUnitWaits: Rule = {
  name: 'every unit that is live waits for an answer, a time, its children or a named human',
  ofCommit: ({ after }) =>
    Object.values(after.tasks)
      .filter((task) => task.kind !== 'fix' && isLive(task))
      .filter((task) => !waitsForItself(after, task) && !waitsForChildren(after, task) && !isWithBudget(after))
      .map(({ id, status }) => `${id}, which is ${status}`),
};

/** Nothing stands still without a reason. */
export const waitRules: readonly Rule[] = [everyUnitWaits];
