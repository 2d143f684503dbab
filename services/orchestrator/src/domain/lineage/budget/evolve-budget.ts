import type { Bounds } from '@fixpoint/contracts/documents/protocol';
import type { Money } from '@fixpoint/contracts/events/budget-events';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { Admitted, Task, TaskStatus, Unit } from '../state.ts';
import { withTask, withUnitOf } from '../with.ts';
import { isShared } from './effective-bounds.ts';

type EndOfUnit = EventNamed<'task_cancelled'> | EventNamed<'task_abandoned'>;

/** The unit and all that was open below it are over: nothing runs, waits or is asked for any of them. */
const unitEnded = (state: Admitted, { type, data }: EndOfUnit): Admitted => {
  const own = type === 'task_cancelled' ? 'cancelled' : 'abandoned';
  const ended = withUnitOf(withTask(state, data.task, over(own)), data.task, unasked);
  return data.ended_tasks.reduce((below, id) => {
    const isUnit = below.units[id] !== undefined;
    const done = withTask(below, id, over(isUnit ? 'cancelled' : 'ended'));
    return isUnit ? withUnitOf(done, id, unasked) : done;
  }, ended);
};

const over =
  (status: TaskStatus) =>
  (task: Task): Task => ({ ...task, status, current: null, queued: null, retry: null });

const unasked = (unit: Unit): Unit => ({ ...unit, request: { ...unit.request, open: false, retryAt: null } });

interface Accounted {
  readonly task: string;
  readonly run?: number | null;
  readonly request?: number | null;
}

/** What something reserved, or spent, is for. */
export const accountOf = ({ task, run, request }: Accounted): string => (run ? `${task}#${run}` : `${task}?${request}`);

/** For a run or request that begins. Nothing is reserved for what can ask no model. */
export const reserved = (state: Admitted, of: Accounted, { money_micros, tokens }: Money): Admitted => {
  if (money_micros === 0 && tokens === 0) return state;
  const { budget } = state;
  return {
    ...state,
    budget: { ...budget, reserved: { ...budget.reserved, [accountOf(of)]: { money_micros, tokens } } },
  };
};

/** The report takes the place of the reservation. Absolute: the same again changes nothing, and nothing is ever paid back. */
const runAccounted = (state: Admitted, data: EventNamed<'run_accounted'>['data']): Admitted => {
  const { [accountOf(data)]: _settled, ...reserved } = state.budget.reserved;
  const { spent } = state.budget;
  const total = {
    money_micros: Math.max(spent.money_micros, data.total.money_micros),
    tokens: Math.max(spent.tokens, data.total.tokens),
  };
  return { ...state, budget: { ...state.budget, reserved, spent: total } };
};

const budgetExtended = (state: Admitted, data: EventNamed<'budget_extended'>['data']): Admitted => {
  const { budget } = state;
  const isMore = data.bounds.max_money_micros !== undefined || data.bounds.max_tokens !== undefined;
  return {
    ...state,
    deadlineAt: data.deadline_at ?? state.deadlineAt,
    deadlinePassed: data.deadline_at === null && state.deadlinePassed,
    budget: {
      ...budget,
      exceeded: budget.exceeded && !isMore,
      extended: { ...budget.extended, ...part(data.bounds, isShared) },
      extendedUnits: {
        ...budget.extendedUnits,
        [data.task]: { ...budget.extendedUnits[data.task], ...part(data.bounds, (key) => !isShared(key)) },
      },
    },
  };
};

const part = (bounds: object, takes: (key: string) => boolean): Partial<Bounds> =>
  Object.fromEntries(Object.entries(bounds).filter(([key]) => takes(key)));

/** What changes how much a lineage may use, or ends a unit of it. */
export const evolveBudget = (state: Admitted, event: LineageEvent): Admitted => {
  switch (event.type) {
    case 'task_cancelled':
    case 'task_abandoned':
      return unitEnded(state, event);
    case 'run_accounted':
      return runAccounted(state, event.data);
    case 'budget_exceeded':
      return { ...state, budget: { ...state.budget, exceeded: true } };
    case 'budget_extended':
      return budgetExtended(state, event.data);
    default:
      return state;
  }
};
