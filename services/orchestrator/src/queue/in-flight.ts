import type { WaitKind } from '../waits/wait-rows.ts';

/** What a task waits for while a run of it is in flight: everything from its start to what follows from its end. */
export const IN_FLIGHT: readonly WaitKind[] = ['gate', 'action', 'judge', 'decide'];

/** A claimed row is given to others after this long: whoever had it has crashed. */
export const QUEUE_CLAIM_MS = 10_000;
