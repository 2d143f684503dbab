import type { NodeQueued } from '@fixpoint/contracts/events/lineage-events';
import type { QueueClass, QueuedFor } from '@fixpoint/contracts/events/queue-events';
import { providersOf } from '../provider/needs.ts';
import { OPEN } from './commands.ts';
import { nodeOf, refOf, sourceOf, type Turn, unitOf } from './lookup.ts';
import { type RunPlan, wirePlan } from './run-plan.ts';
import type { Task } from './state.ts';

/** Strictly below it nothing is started. Source: docs/rules.md (Rank). */
export const VIABLE = -5;

export interface Numbered {
  readonly plan: RunPlan;
  readonly run: number;
}

/** What a run has to wait for; null when it may start at once. A key is exact, so only who keeps its slots may start. */
export const queuedFor = (turn: Turn, task: Task, plan: RunPlan): QueuedFor | null => {
  const { admission = OPEN, state } = turn;
  if (unitOf(state, task).affinity < VIABLE) return 'rank';
  if (state.concurrency !== null) return 'concurrency';
  if (!admission.room) return 'window';
  if (admission.paused.length === 0) return null;
  return needsOf(turn, task, plan).some((provider) => admission.paused.includes(provider)) ? 'provider' : null;
};

/** Models and hosts that a run may ask for something. */
export const needsOf = (
  { state, mode }: Turn,
  task: Task,
  { kind, nodeIndex }: Pick<RunPlan, 'kind' | 'nodeIndex'>,
): string[] => {
  const node = nodeOf(task, nodeIndex);
  const model = kind === 'agent' ? (mode.auto_agent_model ?? node.model) : node.model;
  const urls = [state.source?.url, kind === 'deliver' ? state.deliver?.url : undefined];
  return providersOf({ node: { ...node, model }, kind, urls: urls.filter((url) => url !== undefined) });
};

export const queueClassOf = (affinity: number): QueueClass => {
  if (affinity > 0) return 'high';
  return affinity === 0 ? 'normal' : 'low';
};

type Waiting = Numbered & { readonly waitsFor: QueuedFor };

export const queuedRun = (turn: Turn, task: Task, { plan, run, waitsFor }: Waiting): NodeQueued => {
  const { affinity } = unitOf(turn.state, task);
  return {
    ...refOf(turn.state, task),
    run,
    task_kind: task.kind,
    ...wirePlan(plan),
    unit: task.unit,
    project: turn.state.scope.project,
    class: queueClassOf(affinity),
    affinity,
    concurrency: turn.state.concurrency,
    source: sourceOf(turn.state, plan),
    providers: needsOf(turn, task, plan),
    queued_for: waitsFor,
    since: turn.now,
  };
};
