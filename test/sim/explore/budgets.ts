import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { boundsOf } from '@fixpoint/orchestrator/domain/lineage/budget/effective-bounds';
import { withGrants } from '@fixpoint/orchestrator/domain/lineage/granted';
import type { Admitted } from '@fixpoint/orchestrator/domain/lineage/state';
import type { Commit } from '../rules/rule.ts';

/** What is used of something, and how much of it there may be. */
export interface Use {
  readonly budget: string;
  readonly of: string;
  readonly used: number;
  readonly limit: number;
}

const ofTasks = (state: Admitted, mode: ModeSpec): readonly Use[] =>
  Object.values(state.tasks).flatMap((task) => {
    const bounds = withGrants(boundsOf({ mode, state }, task), task);
    const { execute, judge, iterations } = task.node.counters;
    const inFix = task.kind === 'fix' ? 1 + task.node.granted.execute : bounds.execute;
    return [
      { budget: 'depth', of: task.id, used: task.splitDepth, limit: bounds.max_decomposition_depth },
      { budget: 'execute', of: task.id, used: execute, limit: inFix },
      { budget: 'judge', of: task.id, used: judge, limit: bounds.judge },
      { budget: 'iterations', of: task.id, used: iterations, limit: bounds.iterations },
      { budget: 'integrate', of: task.id, used: task.conflicts, limit: bounds.integrate },
    ];
  });

const ofUnits = (state: Admitted, mode: ModeSpec): readonly Use[] =>
  Object.entries(state.units).flatMap(([id, unit]) => {
    const task = state.tasks[id];
    if (task === undefined) return [];
    const bounds = boundsOf({ mode, state }, task);
    return [
      { budget: 'fixes', of: id, used: unit.fixAttempts, limit: bounds.max_total_fix_attempts },
      { budget: 'recovery depth', of: id, used: unit.depthReached, limit: bounds.max_recovery_depth },
      { budget: 'agents', of: id, used: unit.agentAttempts, limit: bounds.auto_agent_max_attempts },
    ];
  });

/** Everything that is counted, of everybody. */
export const usesIn = (state: Admitted, mode: ModeSpec): readonly Use[] => {
  const { max_total_decomposition_children: limit } = { ...mode.bounds, ...state.budget.extended };
  return [
    { budget: 'fan-out', of: state.root, used: state.childrenUsed, limit },
    ...ofTasks(state, mode),
    ...ofUnits(state, mode),
  ];
};

/** Tries to assemble that a human was not told of end at their bound; those beside a handoff go on. */
const assembledAlone = (state: Admitted, mode: ModeSpec): readonly Use[] =>
  Object.values(state.epics).flatMap((epic) => {
    const task = state.tasks[epic.task];
    const unit = state.units[epic.task];
    if (task?.status !== 'open' || unit === undefined || unit.handoff !== null || epic.closed) return [];
    if (state.decided[`${epic.task}.h${unit.handoffs}`] !== undefined) return [];
    const { max_recompose_attempts: bound } = boundsOf({ mode, state }, task);
    // The bound is the failure that a human hears of.
    return [{ budget: 'recompose', of: epic.id, used: epic.recompose.failed + 1, limit: bound }];
  });

/** How often an event of a type says that one more of something was used. */
type Charge = readonly [budget: string, of: string];

const chargeOf = (event: LineageEvent, before: Admitted): readonly Charge[] => {
  switch (event.type) {
    case 'subtask_spawned':
      return [['fixes', event.data.unit]];
    case 'integration_failed':
      return [['integrate', event.data.task]];
    case 'epic_opened':
      return event.data.children.map(() => ['fan-out', before.root]);
    default:
      return [];
  }
};

const CHARGED = ['fixes', 'integrate', 'fan-out'];

/** Each is charged where it is used, once, and nothing is charged for nothing or given back. */
const wronglyCharged = ({ before, events, after, mode }: Commit): readonly string[] => {
  const charges = events.flatMap((event) => chargeOf(event, before));
  const usedBefore = new Map(usesIn(before, mode).map((use) => [`${use.budget} of ${use.of}`, use.used]));
  return usesIn(after, mode)
    .filter(({ budget }) => CHARGED.includes(budget))
    .flatMap(({ budget, of, used }) => {
      const name = `${budget} of ${of}`;
      const due = charges.filter(([charged, whose]) => charged === budget && whose === of).length;
      const charged = used - (usedBefore.get(name) ?? 0);
      return charged === due ? [] : [`${name}: ${charged} for ${due}`];
    });
};

/** What is beyond its budget after a decision, or was not charged as it was used. */
export const overdrawnBy = (commit: Commit): readonly string[] => {
  const { after, mode } = commit;
  const uses = [...usesIn(after, mode), ...assembledAlone(after, mode)];
  const over = uses
    .filter(({ used, limit }) => used > limit)
    .map(({ budget, of, used, limit }) => `budget: ${budget} of ${of} is ${used} of ${limit}`);
  return [...over, ...wronglyCharged(commit).map((what) => `charged: ${what}`)];
};
