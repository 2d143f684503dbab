import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import { checksOutput, isProgram, type NodeSpec, type TaskSpec } from '@fixpoint/contracts/documents/task';
import { whyNeverRecovers } from './may-recover.ts';

/**
 * The most that a task can cost under a mode, each number for itself: no history reaches all at once. Runs that the
 * machinery lost or never began are repeated beside this and bounded apart. Runs, checks and repairs are those of the task
 * as it is written, until agents or a split take it up: what these make of it nobody can count before. How many of them
 * there may be is said, and money and time hold for all of it.
 */
export interface WorstCase {
  /** Times that recipes of the task's own nodes are run; a gate's recipe is its check and counts here. */
  readonly recipe_runs: number;
  /** Times that a check of a postcondition is asked, in the task and in its fixes; each of an `all` for itself. */
  readonly checks: number;
  /** Corrected commands that are run. */
  readonly repairs: number;
  /** Questions to a model: of repairs, of agents (each run for one, however many steps it takes) and of the council. */
  readonly model_calls: number;
  /** Fix tasks that are spawned. */
  readonly fix_tasks: number;
  /** Times that a `fix` of a validator is run. */
  readonly fix_runs: number;
  /** Runs of agents on what has stalled: on the task, and on each of its children. */
  readonly agent_runs: number;
  /** Tasks that splits make and that runs hand in, on all levels together. */
  readonly children: number;
  /** Of the whole lineage, in millionths of a currency unit: nothing is asked that could cost more. */
  readonly money_micros: number;
  /** The whole life of the lineage, ms. */
  readonly time_ms: number;
}

/**
 * Bounds multiply, so their product is said before anything runs. A closure's fixes are shared by all nodes of the task,
 * so each number gives them to the nodes where they cost most. Source: docs/rules.md (Counters, Recovery); scenario X17.
 */
export const worstCase = (spec: TaskSpec, mode: ModeSpec): WorstCase => {
  const nodes = spec.nodes.map((node) => rootNode(node, mode));
  const fixes = fixesOf(mode);
  const inRoot = (weigh: Weigh): number => sum(nodes.map((node) => alone(node, weigh)));
  const fixed = (weigh: Weigh, nested: readonly Slot[] = []): number =>
    taken(fixes.tasks, [...nodes.map((node) => slotOf(node, weigh)), ...nested]);
  const total = (weigh: Weigh): number => inRoot(weigh) + fixed(weigh);
  const repairs = total({ run: ({ repairs }) => repairs, check: () => 0 });
  const agents = total({ run: ({ agents }) => agents, check: () => 0 });
  const units = 1 + childrenOf(mode);
  const agentRuns = units * mode.bounds.auto_agent_max_attempts;
  return {
    recipe_runs: total({
      run: ({ checksOutput, agents }) => 1 + (checksOutput ? agents : 0),
      check: ({ isGate }) => (isGate ? 1 : 0),
    }),
    checks: inRoot(CHECKS) + fixes.checks + fixed(CHECKS, fixes.nestedChecks),
    repairs,
    model_calls: repairs + agents + agentRuns + (units > LEAST_CHILDREN ? units * QUESTIONS : 0),
    fix_tasks: fixes.tasks,
    fix_runs: fixes.runs,
    agent_runs: agentRuns,
    children: childrenOf(mode),
    money_micros: moneyOf(mode),
    time_ms: mode.bounds.deadline_ms,
  };
};

/** A split makes no fewer. */
const LEAST_CHILDREN = 2;

/** Of one unit to the council: a proposal and its review, each once more, and all of it for a smaller split. */
const QUESTIONS = 8;

const childrenOf = ({ bounds }: ModeSpec): number =>
  bounds.max_decomposition_depth === 0 ? 0 : bounds.max_total_decomposition_children;

/** Where no run may spend anything, nothing is spent. */
const moneyOf = ({ bounds }: ModeSpec): number => (bounds.run_money_micros === 0 ? 0 : bounds.max_money_micros);

/** How a node can come to be run again. */
interface Repeats {
  /** Normal runs without any fix: the first, after unmet ones, and after a check that could not run at first. */
  readonly runs: number;
  /** Checks that are asked again because they could not run. */
  readonly checkRuns: number;
  /** Fixes after which the node can be unmet and run anew. */
  readonly rerunsByFix: number;
}

interface BoundedNode extends Repeats {
  readonly isGate: boolean;
  readonly repairs: number;
  /** Tries of an agent in one run. */
  readonly agents: number;
  /** Checks of its postcondition: 0 for a gate, whose check is its recipe. */
  readonly checks: number;
  /** Of the output: it can only be asked once the recipe has run. */
  readonly checksOutput: boolean;
}

/** What one normal run and one check run of a node cost in the number that is asked for. */
interface Weigh {
  readonly run: (node: BoundedNode) => number;
  readonly check: (node: BoundedNode) => number;
}

/** Before the recipe, after it, and after each repair and each try of an agent. */
const CHECKS: Weigh = {
  run: ({ checks, checksOutput, repairs, agents }) => checks * ((checksOutput ? 0 : 1) + 1 + repairs + agents),
  check: ({ checks }) => checks,
};

/**
 * Each next run needs room in the iterations of its node. An unmet run takes one, as does a check that is unmet after it
 * could not run; a run that is fixed and then found unmet takes two.
 */
const repeatsOf = (bounds: ModeSpec['bounds'], unmet: number, hasCheck: boolean): Repeats => {
  const indeterminate = hasCheck ? bounds.indeterminate : 0;
  const again = Math.min(bounds.iterations - 1, unmet + indeterminate);
  const rerunsByFix = hasCheck ? Math.floor((bounds.iterations - 1 - again) / 2) : 0;
  return { runs: 1 + again, checkRuns: indeterminate, rerunsByFix };
};

const rootNode = (node: NodeSpec, { bounds }: ModeSpec): BoundedNode => {
  const isGate = node.kind === 'gate';
  const hasCheck = isGate || node.postcondition !== null;
  // What best effort leaves unmet is degraded, and not tried again.
  const repeats = repeatsOf(bounds, node.policy === 'best_effort' ? 0 : bounds.execute - 1, hasCheck);
  return {
    ...repeats,
    // A stalled node is asked once more whether it is met meanwhile.
    checkRuns: repeats.checkRuns + (hasCheck ? 1 : 0),
    isGate,
    repairs: isGate ? 0 : repairsPerRun(node),
    agents: isGate || node.policy !== 'recover' ? 0 : node.max_agent_attempts,
    checks: node.postcondition?.all.length ?? 0,
    checksOutput: checksOutput(node),
  };
};

const repairsPerRun = ({ policy, recipe, max_repair_attempts }: NodeSpec): number =>
  policy === 'recover' && isProgram(recipe) ? max_repair_attempts : 0;

/** What a node costs when nothing is fixed. */
const alone = (node: BoundedNode, weigh: Weigh): number =>
  node.runs * weigh.run(node) + node.checkRuns * weigh.check(node);

/** So many fixes may cost so much each. */
interface Slot {
  readonly count: number;
  readonly weight: number;
}

/** After a fix the node is checked, and when that is unmet it is run anew. */
const slotOf = (node: BoundedNode, weigh: Weigh): Slot => ({
  count: node.rerunsByFix,
  weight: weigh.check(node) + weigh.run(node),
});

/** The dearest slots for so many fixes. */
const taken = (fixes: number, slots: readonly Slot[]): number => {
  let left = fixes;
  let cost = 0;
  for (const { count, weight } of slots.toSorted((a, b) => b.weight - a.weight)) {
    const used = Math.min(left, count);
    cost += used * weight;
    left -= used;
  }
  return cost;
};

interface Fixes {
  readonly tasks: number;
  readonly runs: number;
  /** Checks in fixes of which none fixes another. */
  readonly checks: number;
  /** What a fix of a fix leads to in the one above it. */
  readonly nestedChecks: readonly Slot[];
}

/** A fix task has one node for each validator that can start one; its check is the validator's command. */
const fixesOf = (mode: ModeSpec): Fixes => {
  const { bounds } = mode;
  const fixers = mode.post.filter((each) => each.fix !== null && whyNeverRecovers(each, mode) === null);
  const tasks = fixers.length === 0 || bounds.max_recovery_depth === 0 ? 0 : bounds.max_total_fix_attempts;
  // A recipe of a fix gets one chance.
  const checked = repeatsOf(bounds, 0, true);
  const withCheck = fixers.filter(({ check }) => 'command' in check).length;
  const nested = bounds.max_recovery_depth > 1 && withCheck > 0 ? Math.max(0, tasks - 1) : 0;
  const reruns = checked.rerunsByFix > 0 ? 1 : 0;
  return {
    tasks,
    runs: tasks * (fixers.length - withCheck + withCheck * checked.runs) + nested * reruns,
    checks: tasks * withCheck * (2 * checked.runs + checked.checkRuns),
    nestedChecks: [{ count: nested, weight: 1 + 2 * reruns }],
  };
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
