import { handOff, NO_FINDINGS } from '../handoff.ts';
import { type Turn, unitOf } from '../lookup.ts';
import type { Facts, Task } from '../state.ts';
import { demotion } from './demotion.ts';

export interface FloorReason {
  /** For people: why nobody splits it. */
  readonly detail: string;
  /** What the council said; null when it was not asked. */
  readonly council: string | null;
}

/** The end of the pipeline: a human has the unit, and in the same append it loses its rank. */
export const floor = (turn: Turn, unitTask: Task, { detail, council }: FloorReason): Facts => {
  const { stall } = unitOf(turn.state, unitTask);
  const cause = {
    ...NO_FINDINGS,
    haltType: stall?.haltType ?? 'unmet',
    rawHaltType: stall?.rawHaltType ?? 'unmet',
    help: stall?.haltType === 'environment_error' ? 'infrastructure' : 'cannot_act',
    detail: stall?.detail ? `${detail}\n${stall.detail}` : detail,
    council,
    run: stall?.run ?? null,
  } as const;
  return [...handOff(turn, unitTask, cause), demotion(turn, unitTask)];
};
