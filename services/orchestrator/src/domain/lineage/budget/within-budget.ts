import type { Money } from '@fixpoint/contracts/events/budget-events';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { handOff, NO_FINDINGS } from '../handoff.ts';
import { followedBy, refOf, type Turn, taskOf } from '../lookup.ts';
import type { Facts } from '../state.ts';
import { isLive } from '../tree.ts';
import { boundsOf } from './effective-bounds.ts';
import { heldBack, isStart, seenInTurn } from './held-back.ts';

/**
 * Asked before anything is spent: what does not fit into what is left, with all that is reserved, does not start. From then
 * on nothing new does. Runs keep their place in the queue, and a human is asked once, at the root.
 */
export const withinBudget = (turn: Turn, facts: Facts): Facts => {
  const kept = seenInTurn(turn, facts, allow);
  const isHeld = kept.length !== facts.length || kept.some((fact, index) => fact !== facts[index]);
  return isHeld ? followedBy(turn, kept, askForMoney) : kept;
};

const allow = (turn: Turn, fact: LineageEvent): Facts => {
  if (!isStart(fact) || fact.type === 'node_queued') return [fact];
  const held = heldBack(turn, fact);
  if (turn.state.budget.exceeded) return held;
  const lack = lackFor(turn, fact.type === 'node_ready' ? fact.data.allowance : fact.data.budget);
  if (lack === null) return [fact];
  const root = taskOf(turn.state, turn.state.root);
  return [{ type: 'budget_exceeded', data: { ...refOf(turn.state, root), ...lack } }, ...held];
};

/** What is missing for a reservation; null when it fits. Source: docs/rules.md (Budgets). */
const lackFor = (turn: Turn, asked: Money) => {
  const { budget, root } = turn.state;
  const bounds = boundsOf(turn, taskOf(turn.state, root));
  const lack = (kind: 'money' | 'tokens', limit: number, key: keyof Money) => {
    const reserved = Object.values(budget.reserved).reduce((sum, each) => sum + each[key], 0);
    const fits = asked[key] === 0 || budget.spent[key] + reserved + asked[key] <= limit;
    return fits ? null : { kind, limit, spent: budget.spent[key], reserved, asked: asked[key] };
  };
  return lack('money', bounds.max_money_micros, 'money_micros') ?? lack('tokens', bounds.max_tokens, 'tokens');
};

const askForMoney = (turn: Turn): Facts => {
  const root = taskOf(turn.state, turn.state.root);
  if (!isLive(root)) return [];
  const cause = {
    ...{ ...NO_FINDINGS, runOpen: true, run: null },
    ...({ haltType: 'budget', rawHaltType: 'budget_exceeded', help: 'budget' } as const),
    detail: 'the money or tokens of the lineage do not reach for what would start next',
  };
  return handOff(turn, root, cause);
};
