import type { Help, Stage } from '@fixpoint/contracts/events/handoff-events';
import type { DecisionKind } from '@fixpoint/contracts/human-decision';
import type { Turn } from '../lookup.ts';
import type { Task } from '../state.ts';

type Cause = { readonly stage: Stage; readonly help: Help };

interface Rule {
  /** Where it makes sense. */
  readonly on: readonly Stage[];
  /** Only for this kind of help; left out for any. */
  readonly help?: Help;
  /** A new run or a question to the council would follow: not once the lineage's time is used up. */
  readonly starts: boolean;
  readonly when?: (turn: Turn, unitTask: Task) => boolean;
}

const EVERYWHERE: readonly Stage[] = [
  ...(['floor', 'judgement', 'infrastructure', 'budget', 'recompose', 'integrate', 'deliver', 'held'] as const),
];

const isWhole = (_: Turn, { status }: Task): boolean => status === 'open';

/** What its children did not do may be left out of a unit that was split. */
const isLiveUnit = (_: Turn, { status }: Task): boolean => status === 'open' || status === 'superseded';

/** What is verified and only has not landed is not split. */
const mayBeSplit = ({ mode: { bounds } }: Turn, { status, kind, epic, landing }: Task): boolean =>
  status === 'open' &&
  landing === null &&
  kind !== 'fix' &&
  epic === null &&
  bounds.max_decomposition_depth > 0 &&
  bounds.max_total_decomposition_children > 0;

/** Which handoff allows which decision. Source: docs/rules.md (Human floor). */
const RULES: Readonly<Record<DecisionKind, Rule>> = {
  retry: { on: ['floor', 'recompose', 'infrastructure', 'integrate', 'deliver'], starts: true, when: isWhole },
  amend: { on: ['floor', 'judgement'], starts: true, when: isWhole },
  approve: { on: ['judgement'], help: 'choice', starts: true },
  override: { on: ['judgement'], help: 'needs_authority', starts: true },
  split: { on: ['floor', 'judgement', 'infrastructure'], starts: true, when: mayBeSplit },
  resolve: { on: EVERYWHERE, starts: true, when: isLiveUnit },
  extend: { on: ['floor', 'infrastructure', 'budget', 'recompose', 'integrate'], starts: false },
  abandon: { on: EVERYWHERE, starts: false },
};

const KINDS = Object.keys(RULES) as readonly DecisionKind[];

/** What a human may do about a handoff with these causes: what any one of them allows. */
export const allowedDecisions = (turn: Turn, unitTask: Task, causes: readonly Cause[]): DecisionKind[] =>
  KINDS.filter((kind) => {
    const { on, help, starts, when } = RULES[kind];
    if (starts && turn.state.deadlinePassed) return false;
    if (when !== undefined && !when(turn, unitTask)) return false;
    return causes.some((cause) => on.includes(cause.stage) && (help === undefined || help === cause.help));
  });
