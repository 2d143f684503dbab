import type { Unit } from './state.ts';

/** A unit before its first run. @param affinity the submitted priority. */
export const freshUnit = (affinity: number): Unit => ({
  affinity,
  start: affinity,
  fixAttempts: 0,
  depthReached: 0,
  runs: 0,
  recovering: false,
  failures: [],
  faults: {},
  stall: null,
  toldOfWithdrawal: false,
  agentAttempts: 0,
  request: { number: 0, open: false, retryAt: null, refused: 0 },
  handoff: null,
  handoffs: 0,
  resolving: false,
  retriedByTimer: false,
  rungs: [],
});
