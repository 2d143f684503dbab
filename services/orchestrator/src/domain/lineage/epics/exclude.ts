import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { Refused } from '@fixpoint/decider/refused';
import { resumeUnit } from '../enter-node.ts';
import { followedBy, refOf, type Turn, taskOf } from '../lookup.ts';
import type { Facts } from '../state.ts';
import { epicOfChild, holds } from '../tree.ts';

export interface Exclusion {
  readonly child: string;
  /** The handoff that was decided. */
  readonly decision: string;
  readonly reason: string;
}

/** A human's word that an epic closes without a child that will never be done; what was waiting for it goes on. */
export const excludeChild = (turn: Turn, { child: id, decision, reason }: Exclusion): Facts => {
  const child = taskOf(turn.state, id);
  const epic = epicOfChild(turn.state, child);
  const known = epic?.children.find(({ task }) => task === id);
  if (epic === null || known === undefined) throw new Refused('task_is_no_child', id);
  if (known.state === 'excluded') return [];
  if (!holds(turn.state, known)) throw new Refused('child_has_not_ended', id);
  const parent = taskOf(turn.state, epic.task);
  const excluded: LineageEvent = {
    type: 'child_excluded',
    data: {
      ...refOf(turn.state, parent),
      ...{ epic: epic.kind === 'submitted' ? null : epic.id, child: id, decision, reason },
    },
  };
  return followedBy(turn, [excluded], (later) => resumeUnit(later, taskOf(later.state, parent.id)));
};
