import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { bounded, jsonBytes } from './bounded.ts';
import { forModels, timeLeft } from './budget/allowance.ts';
import { nodeOf, refOf, type Turn, unitOf } from './lookup.ts';
import { DataMissing, withData } from './node-data.ts';
import { diffSoFar } from './stall/auto-agent.ts';
import { splitBudget } from './stall/split-budget.ts';
import type { Admitted, Task } from './state.ts';

type Request = EventNamed<'decomposition_requested'>;

/** An event is at most 64 KiB; its envelope stands beside the data. */
const REQUEST_BYTES = 60 * 1024;
const FAILURES_BYTES = 8 * 1024;
const GOAL_BYTES = 8 * 1024;

/** Everything that a council is told about a stalled unit. What an event has no room for is left out, least needed first. */
export const councilRequest = (turn: Turn, unitTask: Task, hint: string | null = null): Request => {
  const { state } = turn;
  const unit = unitOf(state, unitTask);
  return fitting({
    ...refOf(state, unitTask),
    request: unit.request.number + 1,
    scope: state.scope,
    protocol: state.protocol,
    intent: state.intent,
    goal: bounded(unitTask.goal, GOAL_BYTES, 'the whole is in the task'),
    node: stalledNode(unitTask, state),
    nodes: [...unitTask.nodes],
    inputs: { ...unitTask.inputs },
    declared_parts: unitTask.parts.length === 0 ? null : [...unitTask.parts],
    split_depth: unitTask.splitDepth,
    halt_type: unit.stall?.haltType ?? 'unmet',
    raw_halt_type: unit.stall?.rawHaltType ?? 'unmet',
    stalled_run: unit.stall?.run ?? null,
    failures: newest(unit.failures),
    hint,
    base_ref: unitTask.accepted,
    workspace_ref: diffSoFar(unitTask),
    source: state.source,
    budget: budgetOf(turn, unitTask),
  });
};

const stalledNode = (task: Task, state: Admitted): Request['data']['node'] => {
  if (task.nodes.length === 0) return null;
  const node = nodeOf(task);
  try {
    return withData(node, task, state);
  } catch (error) {
    // It may have stalled for want of just that value: the node as written says enough.
    if (error instanceof DataMissing) return node;
    throw error;
  }
};

const budgetOf = (turn: Turn, task: Task): Request['data']['budget'] => {
  return {
    ...splitBudget(turn, task),
    time_ms: timeLeft(turn, turn.mode.council_timeout_ms),
    ...forModels(turn, task),
  };
};

type Failures = Request['data']['failures'];

const newest = (failures: Failures): Failures => {
  const kept = failures.map((failure) => ({ ...failure, justification: bounded(failure.justification, 2048, WHOLE) }));
  while (jsonBytes(kept) > FAILURES_BYTES) kept.shift();
  return kept;
};

const WHOLE = 'the whole is in the judgement';

const LEAST_NEEDED: readonly Partial<Request['data']>[] = [
  { nodes: [] },
  { failures: [] },
  { declared_parts: null },
  { inputs: {} },
  { goal: 'in the task' },
];

const fitting = (data: Request['data']): Request => {
  let fitted = data;
  for (const without of LEAST_NEEDED) if (jsonBytes(fitted) > REQUEST_BYTES) fitted = { ...fitted, ...without };
  return { type: 'decomposition_requested', data: fitted };
};
