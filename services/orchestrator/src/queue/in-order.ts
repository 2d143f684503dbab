import type { QueuedRow } from '../waits/wait-rows.ts';
import type { Turns } from './queue.ts';

/** The lowest class waits until nothing else does; every other one has a slot of its own among so many. */
const SLOTS = 10;

/** How many starts each place still allows. */
export interface Room {
  readonly total: number;
  readonly of: (project: string) => number;
  /** Providers that one run may ask, and no other before it is known how that ends. */
  readonly probes: ReadonlySet<string>;
}

/** The next runs to start, in order: by class, then affinity, then whose project was served longest ago, then the oldest. */
export const inOrder = (rows: readonly QueuedRow[], turns: Turns, room: Room): readonly QueuedRow[] => {
  const left = new Set(rows);
  const picked: QueuedRow[] = [];
  const served = new Map(turns.projects);
  const taken = new Map<string, number>();
  const slots = new Map<string, number>();
  const asked = new Set<string>();
  while (picked.length < room.total) {
    const free = [...left].filter(
      (row) => fits(row, taken, room) && mayHaveSlot(row, slots) && asksNone(row, asked, room),
    );
    const number = turns.total + picked.length + 1;
    const next = firstOf(classFor(free, number), served);
    if (next === undefined) break;
    left.delete(next);
    picked.push(next);
    taken.set(next.project, (taken.get(next.project) ?? 0) + 1);
    served.set(next.project, number);
    for (const provider of next.providers) asked.add(provider);
    if (next.key !== null) slots.set(next.key, (slots.get(next.key) ?? 0) + 1);
  }
  return picked;
};

const fits = ({ project }: QueuedRow, taken: ReadonlyMap<string, number>, room: Room): boolean =>
  (taken.get(project) ?? 0) < room.of(project);

/** No more of one key than it has slots: who keeps them says which of them are free. */
const mayHaveSlot = ({ key, key_limit }: QueuedRow, slots: ReadonlyMap<string, number>): boolean =>
  key === null || (slots.get(key) ?? 0) < (key_limit ?? 0);

const asksNone = ({ providers }: QueuedRow, asked: ReadonlySet<string>, { probes }: Room): boolean =>
  probes.size === 0 || !providers.some((provider) => probes.has(provider) && asked.has(provider));

/** Every tenth start is of the middle class when one of it waits. */
const classFor = (rows: readonly QueuedRow[], number: number): readonly QueuedRow[] => {
  const { high = [], normal = [], low = [] } = Object.groupBy(rows, (row) => row.class);
  if (normal.length > 0 && (high.length === 0 || number % SLOTS === 0)) return normal;
  return high.length > 0 ? high : low;
};

const firstOf = (rows: readonly QueuedRow[], served: ReadonlyMap<string, number>): QueuedRow | undefined =>
  rows.reduce<QueuedRow | undefined>(
    (first, row) => (first === undefined || comesBefore(row, first, served) ? row : first),
    undefined,
  );

const comesBefore = (a: QueuedRow, b: QueuedRow, served: ReadonlyMap<string, number>): boolean => {
  if (a.affinity !== b.affinity) return a.affinity > b.affinity;
  const turn = (served.get(a.project) ?? 0) - (served.get(b.project) ?? 0);
  if (a.project !== b.project && turn !== 0) return turn < 0;
  if (a.since !== b.since) return a.since < b.since;
  return a.task < b.task;
};
