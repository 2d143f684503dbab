import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { handOff, NO_FINDINGS } from './handoff.ts';
import { followedBy, type Turn, taskOf, unitTaskOf } from './lookup.ts';
import type { Facts, Task } from './state.ts';

const PROTOCOL_WITHDRAWN = 'protocol_withdrawn';

/** Facts with which something new begins. */
const STARTS: ReadonlySet<LineageEvent['type']> = new Set([
  'node_ready',
  'node_queued',
  'subtask_spawned',
  'decomposition_requested',
  'recompose_started',
]);

/** What begins with a split begins with it, so none of it is kept; its rank is kept for the day when it is made. */
const OF_A_SPLIT: ReadonlySet<LineageEvent['type']> = new Set([
  'epic_opened',
  'affinity_changed',
  'node_ready',
  'node_queued',
]);

/**
 * Under a withdrawn protocol nothing new starts: what a decision would have started becomes a question to a human, one for
 * each unit that comes to a start. A human who was asked and has decided has taken the old version upon himself.
 */
export const withinProtocol = (turn: Turn, facts: Facts): Facts => {
  const { withdrawn = null } = turn;
  if (withdrawn === null || isExcused(turn)) return facts;
  const splits = facts.some(({ type }) => type === 'epic_opened');
  const begins = ({ type }: LineageEvent): boolean => STARTS.has(type) || (splits && OF_A_SPLIT.has(type));
  const begun = facts.find(begins);
  if (begun === undefined) return facts;
  const kept = facts.filter((fact) => !begins(fact));
  return followedBy(turn, kept, (after) => ask(after, unitIn(after, begun), withdrawn));
};

const isExcused = ({ state }: Turn): boolean =>
  Object.values(state.units).some(({ toldOfWithdrawal, handoff }) => toldOfWithdrawal && handoff === null);

/** The unit that would have begun something; a task that is not there is one that this very decision would have made. */
const unitIn = (turn: Turn, { data }: LineageEvent): Task => {
  const id = 'parent_ref' in data ? data.parent_ref : data.task;
  return unitTaskOf(turn.state, turn.state.tasks[id] ?? taskOf(turn.state, turn.state.root));
};

const ask = (turn: Turn, unitTask: Task, reason: string): Facts => {
  const { name, version } = turn.state.protocol;
  const cause = {
    ...NO_FINDINGS,
    haltType: 'environment_error',
    rawHaltType: PROTOCOL_WITHDRAWN,
    help: 'infrastructure',
    detail: `${name}@${version} was withdrawn: ${reason}`,
    run: null,
  } as const;
  return handOff(turn, unitTask, cause);
};
