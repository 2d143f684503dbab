import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { evolve } from '../evolve.ts';
import type { Turn } from '../lookup.ts';
import { queuedRun } from '../queue.ts';
import { planIn } from '../run-plan.ts';
import type { Facts } from '../state.ts';

/** What begins with its event: a run, now or when its turn comes, or a question to the council. */
export type Start = Extract<LineageEvent, { type: 'node_ready' | 'node_queued' | 'decomposition_requested' }>;

export const isStart = (fact: LineageEvent): fact is Start =>
  fact.type === 'node_ready' || fact.type === 'node_queued' || fact.type === 'decomposition_requested';

/** A run waits in the queue under its number; a unit that would ask the council is asked about again when there is more. */
export const heldBack = (turn: Turn, fact: Start): Facts => {
  const task = turn.state.tasks[fact.data.task];
  if (fact.type === 'decomposition_requested' || task === undefined) return [];
  const { data } = fact;
  return [
    { type: 'node_queued', data: queuedRun(turn, task, { plan: planIn(data), run: data.run, waitsFor: 'budget' }) },
  ];
};

/** Each fact is seen on what those before it have left; what is said instead of it holds for those after it. */
export const seenInTurn = (turn: Turn, facts: Facts, say: (now: Turn, fact: LineageEvent) => Facts): Facts => {
  let now = turn;
  const said: LineageEvent[] = [];
  for (const fact of facts) {
    const instead = say(now, fact);
    for (const each of instead) now = after(now, each);
    said.push(...instead);
  }
  return said;
};

const after = (turn: Turn, fact: LineageEvent): Turn => {
  const state = evolve(turn.state, fact);
  return state.status === 'admitted' ? { ...turn, state } : turn;
};
