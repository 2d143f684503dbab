import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { refOf, type Turn, unitOf } from '../lookup.ts';
import { VIABLE } from '../queue.ts';
import type { Facts, Task } from '../state.ts';

const DEMOTION = 10;

/** What a failed recompose leaves: lowest, but dispatched; and never more than before. */
export const flooredDemotion = (affinity: number): number => Math.min(affinity, Math.max(affinity - DEMOTION, VIABLE));

/** Nothing is lowered by a lift. */
export const lifted = (affinity: number, to: number): number => Math.max(affinity, to);

type Reason = EventNamed<'affinity_changed'>['data']['reason'];

interface Ranking {
  readonly change: (affinity: number) => number;
  readonly reason: Reason;
}

/** The new rank of a unit; nothing when it is the old one. */
export const rank = (turn: Turn, unitTask: Task, { change, reason }: Ranking): Facts => {
  const { affinity: from } = unitOf(turn.state, unitTask);
  const to = change(from);
  return from === to ? [] : [{ type: 'affinity_changed', data: { ...refOf(turn.state, unitTask), from, to, reason } }];
};
