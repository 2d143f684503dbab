import { contentHash } from '@fixpoint/contracts/content-hash';
import { checksOutput, type NodeSpec } from '@fixpoint/contracts/documents/task';
import type { NodeReady } from '@fixpoint/contracts/events/lineage-events';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { allowanceOf } from './budget/allowance.ts';
import { withChildren } from './epics/children-results.ts';
import { landingOf } from './epics/landing-of.ts';
import { nodeOf, refOf, sourceOf, startOf, type Turn, unitOf } from './lookup.ts';
import { withData } from './node-data.ts';
import { type Numbered, queuedFor, queuedRun } from './queue.ts';
import { type RunPlan, wirePlan } from './run-plan.ts';
import { toldToAgent } from './stall/auto-agent.ts';
import type { Admitted, Facts, Task } from './state.ts';

/**
 * The next run of a task: at once, or when its turn comes. The one way to start anything.
 * @throws {DataMissing} for the first run of a node that takes a value which is not there.
 */
export const start = (turn: Turn, task: Task, asked: RunPlan): Facts => {
  const plan = { ...asked, ...landingOf(turn.state, task, asked.kind) };
  const run = task.runs + 1;
  const ready = readyRun(turn, task, { plan, run });
  const waitsFor = queuedFor(turn, task, plan);
  return waitsFor === null
    ? [{ type: 'node_ready', data: ready }]
    : [{ type: 'node_queued', data: queuedRun(turn, task, { plan, run, waitsFor }) }];
};

/** With everything that gate, executor and judge need to know. */
export const readyRun = (turn: Turn, task: Task, { plan, run }: Numbered): NodeReady => {
  const given = withChildren(plan.nodeIndex, task, turn.state);
  const node = withData(given, task, turn.state);
  const lastNode = plan.nodeIndex === task.nodes.length - 1;
  return {
    ...refOf(turn.state, task),
    run,
    task_kind: task.kind,
    ...wirePlan(plan),
    node,
    last_node: lastNode,
    scope: turn.state.scope,
    protocol: turn.state.protocol,
    intent: turn.state.intent,
    ...toldToAgent(turn, task, plan.kind),
    spec_hash: specHashOf(task, plan.nodeIndex, node),
    source: sourceOf(turn.state, plan),
    ...comparedWith(turn.state, plan),
    keep: [...turn.state.keep],
    ...limitOf(turn.state, task, plan.kind),
    judged_by: judgedBy(task, lastNode),
    allowance: allowanceOf(turn, task, { node, kind: plan.kind }),
    work_class: unitOf(turn.state, task).affinity < 0 ? 'low' : 'normal',
  };
};

/** What a human brings before any run has left a workspace is compared with where the lineage begins. */
const comparedWith = ({ source }: Admitted, { ref, basis }: RunPlan): Pick<NodeReady, 'compared_with'> => {
  const named = basis?.source ?? null;
  const isOther = ref === null && source !== null && named !== null && named.ref !== source.ref;
  return isOther ? { compared_with: source } : {};
};

/** A merge, a delivery and a check change nothing of their own. A fix may do what its unit may. */
const limitOf = (state: Admitted, { unit }: Task, kind: RunPlan['kind']): Pick<NodeReady, 'paths'> => {
  const within = state.tasks[unit]?.within;
  if (within === undefined || (kind !== 'normal' && kind !== 'agent')) return {};
  return { paths: within.map((globs) => [...globs]) };
};

/** A node that was filled in is run with its values, so a token for other values is for another spec. */
export const specHashOf = ({ specHash, nodes }: Task, index: number, node: NodeSpec): string =>
  node === nodes[index] ? specHash : contentHash({ spec_hash: specHash, node });

/** A fix is judged once, with its last node, by the validators that made it. */
const judgedBy = (task: Task, lastNode: boolean): string[] | null => {
  if (task.kind !== 'fix') return null;
  return lastNode ? [...task.triggering] : [];
};

/** The ladder from where the task stands. */
export const normalRun = (task: Task, purpose: NodeReady['purpose']): RunPlan => ({
  kind: 'normal',
  purpose,
  ref: startOf(task),
  judges: null,
  nodeIndex: task.nodeIndex,
});

export const hasCheck = (task: Task): boolean => {
  const node = nodeOf(task);
  return node.postcondition !== null || node.kind === 'gate';
};

/**
 * The earlier run that a check run speaks of: without a check, the last good one is judged again; a check of the output
 * is asked about what the recipe put out last.
 */
const judgesOf = (task: Task): number | null => {
  if (!hasCheck(task)) return task.node.lastSatisfied?.run ?? null;
  return checksOutput(nodeOf(task)) ? (task.node.lastNormal?.run ?? null) : null;
};

/** The check of the current node on a ref. */
export const checkRun = (task: Task, purpose: NodeReady['purpose'], ref: WorkspaceRef | null): RunPlan => ({
  kind: 'check',
  purpose,
  ref,
  judges: judgesOf(task),
  nodeIndex: task.nodeIndex,
});
