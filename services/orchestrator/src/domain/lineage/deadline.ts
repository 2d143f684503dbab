import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { handOff, NO_FINDINGS } from './handoff.ts';
import { followedBy, isBusy, refOf, type Turn, taskOf, waitsForTimer } from './lookup.ts';
import type { Facts } from './state.ts';
import { isLive } from './tree.ts';

/** Facts with which something new begins. */
export const STARTS: ReadonlySet<LineageEvent['type']> = new Set([
  'node_ready',
  'node_queued',
  'subtask_spawned',
  'decomposition_requested',
  'recompose_started',
]);

/** The lineage's time is used up: what runs may end inside its allowance, then a human may give more. */
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
  } as const;
  return handOff(turn, root, cause);
};

const givesTime = (fact: LineageEvent): boolean => fact.type === 'budget_extended' && fact.data.deadline_at !== null;

/** After the deadline nothing new starts: what a decision would have started becomes one question for more time. */
export const withinDeadline = (turn: Turn, facts: Facts): Facts => {
  if (!turn.state.deadlinePassed || facts.length === 0 || facts.some(givesTime)) return facts;
  const kept = facts.filter((fact) => !STARTS.has(fact.type));
  const dropped = kept.length < facts.length;
  return followedBy(turn, kept, (after) => (dropped || waitsForTimer(after.state) ? askForTime(after) : []));
};
