import type { Bounds } from '@fixpoint/contracts/documents/protocol';
import { boundsOf } from '@fixpoint/orchestrator/domain/lineage/budget/effective-bounds';
import { withGrants } from '@fixpoint/orchestrator/domain/lineage/granted';
import type { Admitted, Task, Unit } from '@fixpoint/orchestrator/domain/lineage/state';
import type { Rule } from './rule.ts';

type Counts = Readonly<Record<string, number>>;

const ofTask = ({ runs, fixes, conflicts }: Task): Counts => ({ runs, fixes, conflicts });

const ofUnit = ({ fixAttempts, depthReached, runs, handoffs, request, faults }: Unit): Counts => ({
  ...{ fixAttempts, depthReached, runs, handoffs, requests: request.number },
  ...Object.fromEntries(Object.entries(faults).map(([name, { count }]) => [`faults ${name}`, count])),
});

const flat = (owner: string, counts: Counts): (readonly [string, number])[] =>
  Object.entries(counts).map(([name, value]) => [`${name} of ${owner}`, value]);

const countsIn = ({ tasks, units, epics, childrenUsed }: Admitted): ReadonlyMap<string, number> =>
  new Map([
    ['children', childrenUsed],
    ...Object.values(tasks).flatMap((task) => flat(task.id, ofTask(task))),
    ...Object.entries(units).flatMap(([id, unit]) => flat(id, ofUnit(unit))),
    ...Object.values(epics).flatMap(({ id, recompose: { started, failed } }) => flat(id, { started, failed })),
  ]);

const neverFall: Rule = {
  name: 'C9 counters never fall',
  ofCommit: ({ before, after }) => {
    const now = countsIn(after);
    return [...countsIn(before)]
      .filter(([name, value]) => (now.get(name) ?? 0) < value)
      .map(([name, value]) => `${name}: ${value}, then ${now.get(name)}`);
  },
};

/** Counters of a node go on where they were as long as the task stays at it. */
const nodesNeverForget: Rule = {
  name: 'counters of a node never fall while it is the current one',
  ofCommit: ({ before, after }) =>
    Object.values(before.tasks).flatMap((task) => {
      const now = after.tasks[task.id];
      if (now === undefined || now.nodeIndex !== task.nodeIndex) return [];
      return Object.entries(task.node.counters)
        .filter(([name, value]) => now.node.counters[name as keyof typeof now.node.counters] < value)
        .map(([name]) => `${name} of ${task.id}`);
    }),
};

/** A check that could not run is tried again so often before a human is told of the last time. */
const ONE_TO_TELL = 1;

const withinBounds: Rule = {
  name: 'no bound is ever passed, with all that humans added to it',
  ofCommit: ({ after, mode }) =>
    Object.values(after.tasks).flatMap((task) => {
      const bounds = withGrants(boundsOf({ mode, state: after }, task), task);
      const { counters } = task.node;
      const { fixAttempts = 0, depthReached = 0 } = after.units[task.id] ?? {};
      const passed = [
        ...(['execute', 'judge', 'iterations'] as const).filter((name) => counters[name] > bounds[name]),
        ...(counters.indeterminate > bounds.indeterminate + ONE_TO_TELL ? ['indeterminate'] : []),
        ...(fixAttempts > bounds.max_total_fix_attempts ? ['max_total_fix_attempts'] : []),
        ...(depthReached > bounds.max_recovery_depth ? ['max_recovery_depth'] : []),
      ];
      return passed.map((name) => `${name} of ${task.id}: ${JSON.stringify({ counters, fixAttempts, depthReached })}`);
    }),
};

const splitsWithinBudget: Rule = {
  name: 'no lineage is split deeper or into more children than its bounds say',
  ofCommit: ({ after, mode }) => splitsBeyond(after, { ...mode.bounds, ...after.budget.extended }),
};

const splitsBeyond = (after: Admitted, bounds: Bounds): readonly string[] => [
  ...(after.childrenUsed > bounds.max_total_decomposition_children ? [`${after.childrenUsed} children`] : []),
  ...Object.values(after.tasks)
    .filter(({ splitDepth }) => splitDepth > bounds.max_decomposition_depth)
    .map(({ id, splitDepth }) => `${id} is at depth ${splitDepth}`),
];

const childrenAreCounted: Rule = {
  name: 'C19 a child is there and charged as soon as its epic is, and once',
  ofCommit: ({ after }) => {
    const children = Object.values(after.tasks).filter(({ kind }) => kind === 'child').length;
    return children === after.childrenUsed ? [] : [`${children} children, ${after.childrenUsed} charged`];
  },
};

/** What is counted, and how far it may get. */
export const counterRules: readonly Rule[] = [
  neverFall,
  nodesNeverForget,
  withinBounds,
  splitsWithinBudget,
  childrenAreCounted,
];
