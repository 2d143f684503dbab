import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { heldBack, isStart, seenInTurn } from './budget/held-back.ts';
import { handOff, NO_FINDINGS } from './handoff.ts';
import { followedBy, isBusy, refOf, type Turn, taskOf, waitsForTimer } from './lookup.ts';
import type { Facts } from './state.ts';
import { isLive } from './tree.ts';

/** The lineage's time is used up: what is under way may end inside its allowance, then a human may give more. */
export const passDeadline = (turn: Turn): Facts => {
  const root = taskOf(turn.state, turn.state.root);
  if (turn.state.deadlinePassed || !isLive(root)) return [];
  const passed: LineageEvent = {
    type: 'deadline_passed',
    data: { ...refOf(turn.state, root), deadline_at: turn.state.deadlineAt },
  };
  return followedBy(turn, [passed], (after) => (isBusy(after.state) ? [] : askForTime(after)));
};

const askForTime = (turn: Turn): Facts => {
  const root = taskOf(turn.state, turn.state.root);
  if (!isLive(root)) return [];
  const cause = {
    ...NO_FINDINGS,
    haltType: 'budget',
    rawHaltType: 'deadline',
    help: 'budget',
    detail: `the lineage had until ${turn.state.deadlineAt}`,
    run: null,
    runOpen: true,
  } as const;
  return handOff(turn, root, cause);
};

const givesTime = (fact: LineageEvent): boolean => fact.type === 'budget_extended' && fact.data.deadline_at !== null;

/**
 * After the deadline nothing new starts, and no answer is lost: what a decision would have started waits in the queue until a
 * human gives more time. A unit that would ask the council asks when there is time again.
 */
export const withinDeadline = (turn: Turn, facts: Facts): Facts => {
  if (!turn.state.deadlinePassed || facts.length === 0 || facts.some(givesTime)) return facts;
  const held = seenInTurn(turn, facts, (now, fact) => (isStart(fact) ? heldBack(now, fact) : [fact]));
  const begins = facts.some(isStart);
  return followedBy(turn, held, (after) => (begins || waitsForTimer(after.state) ? askForTime(after) : []));
};
