import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { recomposeFailed } from './epics/recompose.ts';
import { followedBy, refOf, type Turn, taskOf } from './lookup.ts';
import { autoAgentOf } from './stall/auto-agent.ts';
import { afterStallStep } from './stall/next-step.ts';
import type { Facts, Task } from './state.ts';
import { isRecomposing } from './tree.ts';

type Stalled = EventNamed<'task_stalled'>['data'];
export type StallReason = Pick<Stalled, 'run' | 'counter' | 'limit' | 'used' | 'halt_type' | 'raw_halt_type'> &
  Partial<Pick<Stalled, 'detail' | 'node_index'>>;

/** A unit used something up: what comes next is decided step by step, one per answer. */
export const stallUnit = (turn: Turn, unitTask: Task, reason: StallReason): Facts => {
  if (isRecomposing(turn.state, unitTask)) return notAssembled(turn, unitTask, reason);
  const stalled: LineageEvent = {
    type: 'task_stalled',
    data: { ...refOf(turn.state, unitTask), ...reason, auto_agent: autoAgentOf(turn, unitTask) },
  };
  return followedBy(turn, [stalled], (after) => afterStallStep(after, taskOf(after.state, unitTask.id)));
};

const notAssembled = (turn: Turn, unitTask: Task, { run, raw_halt_type: reason }: StallReason): Facts =>
  recomposeFailed(turn, unitTask, { run, signature: unitTask.signatures.at(-1) ?? null, reason });
