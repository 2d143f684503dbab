import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { withdrawal } from './handoff.ts';
import { refOf, type Turn, taskOf } from './lookup.ts';
import type { Admitted, Facts, Task } from './state.ts';
import { isLive } from './tree.ts';

type EndOfUnit = EventNamed<'task_cancelled'> | EventNamed<'task_abandoned'>;
type Whole = EndOfUnit['data'];
/** The end without what follows from the tree. */
type OwnFields<End extends EndOfUnit> = Omit<End['data'], 'root' | 'task' | 'address' | 'ended_tasks' | 'stopped_runs'>;

export type UnitEnd =
  | ({ readonly type: 'task_cancelled' } & OwnFields<EventNamed<'task_cancelled'>>)
  | ({ readonly type: 'task_abandoned' } & OwnFields<EventNamed<'task_abandoned'>>);

/**
 * Ends a unit with everything that is open below it, and withdraws its and their handoffs, in one append. A result that
 * comes later finds no run in flight.
 */
export const endUnit = (turn: Turn, unitTask: Task, end: UnitEnd): Facts => {
  const below = liveBelow(turn.state, unitTask.id);
  const { type, ...own } = end;
  const data = { ...refOf(turn.state, unitTask), ...treeOf([unitTask, ...below]), ...own };
  const units = [unitTask, ...below.filter(isUnit)];
  return [{ type, data } as EndOfUnit, ...units.flatMap((each) => withdrawal(turn, each, type))];
};

/** For an end that is the unit's own, such as a hard stop: what is open below it is cancelled, each child with its own. */
export const cancelBelow = (turn: Turn, unitTask: Task, reason: string): Facts =>
  liveBelow(turn.state, unitTask.id)
    .filter((task) => isUnit(task) && !hasUnitBetween(turn.state, task, unitTask.id))
    .flatMap((child) => endUnit(turn, child, { type: 'task_cancelled', reason }));

const isUnit = ({ kind }: Task): boolean => kind !== 'fix';

const hasUnitBetween = (state: Admitted, task: Task, top: string): boolean => {
  const above = task.parent === null ? undefined : state.tasks[task.parent];
  if (above === undefined || above.id === top) return false;
  return isUnit(above) || hasUnitBetween(state, above, top);
};

const treeOf = ([unitTask, ...below]: readonly [Task, ...Task[]]): Pick<Whole, 'ended_tasks' | 'stopped_runs'> => ({
  ended_tasks: below.map(({ id }) => id),
  stopped_runs: [unitTask, ...below].flatMap(({ id, current }) => (current ? [{ task: id, run: current.run }] : [])),
});

/** All tasks below one that are not over, its fixes and children and all of theirs. */
const liveBelow = (state: Admitted, top: string): Task[] =>
  Object.values(state.tasks).filter((task) => task.id !== top && isLive(task) && isBelow(state, task, top));

const isBelow = (state: Admitted, task: Task, top: string): boolean =>
  task.parent !== null && (task.parent === top || isBelow(state, taskOf(state, task.parent), top));
