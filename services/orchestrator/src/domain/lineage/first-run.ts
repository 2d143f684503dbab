import { bounded } from './bounded.ts';
import { type Cause, handOff, NO_FINDINGS } from './handoff.ts';
import type { Turn } from './lookup.ts';
import { DataMissing } from './node-data.ts';
import type { RunPlan } from './run-plan.ts';
import { start } from './start-run.ts';
import type { Facts, Task } from './state.ts';

/** References and conditions may be as long as the document lets them. */
const DETAIL_BYTES = 4 * 1024;

/** The first run of a node; a human where a value that it takes is not there. */
export const firstRun = (turn: Turn, task: Task, plan: RunPlan): Facts =>
  withValues(turn, { ...task, nodeIndex: plan.nodeIndex }, () => start(turn, task, plan));

/** What begins a node, or a human where a value that the node takes is not there. */
export const withValues = (turn: Turn, slice: Task, begin: () => Facts): Facts => {
  try {
    return begin();
  } catch (error) {
    if (!(error instanceof DataMissing)) throw error;
    return lacksData(turn, slice, { rawHaltType: 'data_missing', detail: error.message });
  }
};

/** Nothing was run, so there is nothing to repair: only whoever wrote the task knows what was meant. */
export const lacksData = (turn: Turn, slice: Task, why: Pick<Cause, 'rawHaltType' | 'detail'>): Facts => {
  const detail = bounded(why.detail, DETAIL_BYTES, 'the whole is in the task');
  return handOff(turn, slice, { ...NO_FINDINGS, haltType: 'data', help: 'cannot_act', run: null, ...why, detail });
};
