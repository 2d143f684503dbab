import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { type Turn, unitOf } from '../lookup.ts';
import type { Task } from '../state.ts';
import { splitBudget } from './split-budget.ts';

export type Exclusion = EventNamed<'split_excluded'>['data']['reason'];

/** A split makes at least two. */
const LEAST_CHILDREN = 2;

/** Why this unit must not be split, before anybody is asked; null when it may be. */
export const exclusionOf = (turn: Turn, unitTask: Task): Exclusion | null => {
  const unit = unitOf(turn.state, unitTask);
  if (unitTask.kind === 'fix') return 'fix';
  if (unitTask.epic !== null) return 'already_split';
  if (unit.handoff !== null) return 'human_held';
  if (unit.stall?.haltType === 'environment_error') return 'machinery';
  const { children_left, depth_left } = splitBudget(turn, unitTask);
  if (depth_left < 1) return 'depth';
  return children_left < LEAST_CHILDREN ? 'children' : null;
};

/** For people. */
export const EXCLUDED: Readonly<Record<Exclusion, string>> = {
  fix: 'a fix is never split',
  human_held: 'a human has it already',
  already_split: 'it was split before, and that happens once',
  machinery: 'it is about the machinery, and no split mends that',
  depth: 'it is as many splits deep as its mode lets it be',
  children: 'the lineage has made as many children as its mode lets it make',
};
