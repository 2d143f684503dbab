import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { enteredAt } from './evolve-ready.ts';
import type { Admitted, Unit } from './state.ts';
import { withTask, withUnitOf } from './with.ts';

type Data<Type extends 'task_stalled' | 'run_counted' | 'human_required' | 'handoff_updated'> =
  EventNamed<Type>['data'];

export const taskStalled = (state: Admitted, data: Data<'task_stalled'>): Admitted => {
  const { run, halt_type: haltType, raw_halt_type: rawHaltType, counter, detail = '' } = data;
  const stall = { run, haltType, rawHaltType, counter, detail, checked: false };
  const stalled = withUnitOf(state, data.task, (unit) => ({ ...unit, stall }));
  const { node_index: index } = data;
  if (index === undefined) return stalled;
  return withTask(stalled, data.task, (task) => ({ ...task, ...enteredAt(task, index), nodeDone: false }));
};

/** A check answers whether the goal is met meanwhile; what an agent did, or time, makes it worth asking again. */
export const stallAfterRun = (unit: Unit, data: Data<'run_counted'>): Pick<Unit, 'stall' | 'agentAttempts'> => {
  const agentAttempts = data.agent_attempts ?? unit.agentAttempts;
  if (unit.stall === null || data.outcome === 'indeterminate') return { stall: unit.stall, agentAttempts };
  return { stall: { ...unit.stall, checked: data.run_kind === 'check' }, agentAttempts };
};

/** Once told, a human's decision is a decision to go on under what was withdrawn. */
export const toldOfWithdrawal = (
  state: Admitted,
  { task, raw_halt_type }: Pick<Data<'human_required'> | Data<'handoff_updated'>, 'task' | 'raw_halt_type'>,
): Admitted =>
  raw_halt_type === 'protocol_withdrawn'
    ? withUnitOf(state, task, (unit) => ({ ...unit, toldOfWithdrawal: true }))
    : state;
