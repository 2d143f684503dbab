import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { type Turn, taskOf } from '../lookup.ts';
import { boundsOf } from './effective-bounds.ts';

/** When the lineage was submitted (ms): its whole life counts from there. */
export const begunAtMs = (turn: Turn): number =>
  Date.parse(turn.state.deadlineAt) - boundsOf(turn, taskOf(turn.state, turn.state.root)).deadline_ms;

/** What a lineage has cost so far: models as they were accounted for, the time that it has taken, and all of its runs. */
export const costOf = (turn: Turn): EventNamed<'human_required'>['data']['cost'] => ({
  ...turn.state.budget.spent,
  runs: Object.values(turn.state.units).reduce((sum, { runs }) => sum + runs, 0),
  duration_ms: Math.max(0, Date.parse(turn.now) - begunAtMs(turn)),
});
