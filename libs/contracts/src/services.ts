import type { EventType } from './events/catalogue.ts';

/**
 * Who reads what from the bus. A type that no reader names is never published on WORK.
 * Names are durable names and checkpoint keys: `<service>__<reader>`.
 */
export const READERS = {
  orchestrator__decide: [
    'governance_blocked',
    'governance_escalated',
    'gate_faulted',
    'run_refused',
    'node_verified_action',
    'post_validated',
    'split_decided',
    'council_faulted',
    'dead_lettered',
  ],
  validator__gate: ['node_ready'],
  validator__judge: ['node_verified_action'],
  executor__run: ['governance_passed'],
  decomposer__council: ['decomposition_requested'],
} as const satisfies Record<string, readonly EventType[]>;

/** Types whose work may be long: one event a message, so that it spreads over replicas (an in-process run may share one). */
export const SPREAD_TYPES: readonly EventType[] = ['governance_passed', 'decomposition_requested'];

/**
 * Stop events concern every replica; each process listens for itself. `stoppedBy` (stopped.ts) says what each stops.
 */
export const STOP_TYPES: readonly EventType[] = ['task_blocked', 'task_cancelled', 'task_abandoned', 'epic_opened'];

const consumed = new Set<string>([...Object.values(READERS).flat(), ...STOP_TYPES]);

/** Whether an event is published on WORK at all. */
export const isConsumed = (type: string): boolean => consumed.has(type);

const readersByType: ReadonlyMap<string, readonly string[]> = (() => {
  const names = new Map<string, string[]>();
  for (const [name, types] of Object.entries(READERS)) {
    for (const type of types) names.set(type, [...(names.get(type) ?? []), name]);
  }
  for (const type of STOP_TYPES) names.delete(type);
  return names;
})();

/** Readers that between them get every event of a type. None for stop events: they concern every process, wherever it is. */
export const readersOf = (type: string): readonly string[] => readersByType.get(type) ?? [];
