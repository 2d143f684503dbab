import { isProgram, type NodeSpec } from '@fixpoint/contracts/documents/task';
import type { Allowance, Money } from '@fixpoint/contracts/events/budget-events';
import type { RunKind } from '@fixpoint/contracts/events/run-kind';
import type { Turn } from '../lookup.ts';
import type { Task } from '../state.ts';
import { boundsOf } from './effective-bounds.ts';

export const NO_MONEY: Money = { money_micros: 0, tokens: 0 };

interface Planned {
  readonly node: NodeSpec;
  readonly kind: RunKind;
}

/** What a run may use. No run may outlive the lineage, and only one that may ask a model gets money for it. */
export const allowanceOf = (turn: Turn, task: Task, { node, kind }: Planned): Allowance => ({
  time_ms: timeLeft(turn, node.timeout_ms),
  ...(mayAskModel({ node, kind }) ? forModels(turn, task) : NO_MONEY),
});

/** At most so many ms, and never beyond the deadline. */
export const timeLeft = ({ now, state }: Turn, atMostMs: number): number =>
  Math.max(1, Math.min(atMostMs, Date.parse(state.deadlineAt) - Date.parse(now)));

/** Reserved for one run or one request that may ask a model; more it may not spend. */
export const forModels = (turn: Turn, task: Task): Money => {
  const { run_money_micros: money_micros, run_tokens: tokens } = boundsOf(turn, task);
  return { money_micros, tokens };
};

const mayAskModel = ({ node, kind }: Planned): boolean => {
  if (kind === 'agent') return true;
  return kind === 'normal' && (node.max_agent_attempts > 0 || mayBeRepaired(node));
};

const mayBeRepaired = ({ policy, recipe, max_repair_attempts }: NodeSpec): boolean =>
  policy === 'recover' && isProgram(recipe) && max_repair_attempts > 0;
