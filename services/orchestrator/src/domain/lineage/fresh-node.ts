import type { NodeCounters } from '@fixpoint/contracts/events/ended-events';
import type { NodeProgress } from './state.ts';

const NO_COUNTERS: NodeCounters = { execute: 0, judge: 0, iterations: 0, indeterminate: 0 };

/** A node before its first run. */
export const FRESH_NODE: NodeProgress = {
  counters: NO_COUNTERS,
  granted: NO_COUNTERS,
  last: null,
  lastNormal: null,
  lastWork: null,
  lastSatisfied: null,
};
