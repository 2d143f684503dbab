/**
 * A task's place in its lineage: root `0`, children `0.1`, a fix `0.2~1`, a run `0.2#3`.
 * Ordinals are 1-based and never reused.
 */
export const ROOT_ADDRESS = '0';

/** Address of the n-th fix spawned by the task at `parent`. */
export const fixAddress = (parent: string, n: number): string => `${parent}~${n}`;

/** Address of the n-th child of the unit at `parent`. */
export const childAddress = (parent: string, n: number): string => `${parent}.${n}`;

/** Address of a run, as shown to people. */
export const runAddress = (task: string, run: number): string => `${task}#${run}`;

/** Number of fix links from the unit down to this address (0 for a unit). */
export const recoveryDepth = (address: string): number => address.split('~').length - 1;

/** Id of the root or child whose closure a task belongs to: itself, or what its fixes hang on. */
export const unitIdOf = (task: string): string => task.replace(/(\.f\d+)+$/, '');

/**
 * Id of the task at an address of a lineage: the root's own id for `0`, else derived from it, so that the same decision
 * names the same task wherever and however often it is made. Safe in stream names and git refs.
 */
export const taskIdAt = (root: string, address: string): string => `${root}${address.slice(1).replaceAll('~', '.f')}`;

/** Id of a unit's n-th handoff, 1-based. */
export const handoffIdAt = (task: string, n: number): string => `${task}.h${n}`;

/** Which handoff of its unit an id names, 1-based; 0 for what is no id of one. */
export const handoffNumber = (handoff: string): number => Number(/\.h(\d+)$/.exec(handoff)?.[1] ?? 0);

/** The lineage that a task or handoff belongs to: ids below a root begin with its own, which has no dot. */
export const rootOfId = (id: string): string => id.split('.', 1)[0] ?? id;
