import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { refOf, type Turn, unitOf } from '../lookup.ts';
import type { Task } from '../state.ts';

/** What a stall costs in rank. Source: docs/rules.md (Rank). */
const DEMOTION = 10;

/** Once per stall, in the append that ends it with a split or a human. Never raises; an ordinary failure has no floor. */
export const demotion = (turn: Turn, task: Task): LineageEvent => {
  const { affinity } = unitOf(turn.state, task);
  const to = Math.min(affinity, affinity - DEMOTION);
  return { type: 'affinity_changed', data: { ...refOf(turn.state, task), from: affinity, to, reason: 'stalled' } };
};
