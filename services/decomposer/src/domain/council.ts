import type { DecomposerEvent, EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { CouncilSpent } from '@fixpoint/contracts/events/decomposer-events';
import type { Decider } from '@fixpoint/decider/decider';

type Proposed = EventNamed<'slicing_proposed'>['data'];
type Reviewed = EventNamed<'split_reviewed'>['data'];
type Faulted = EventNamed<'council_faulted'>['data'];

/** One request of a stalled unit to be split. Requests of a task are numbered from 1; each has a stream of its own. */
export interface RequestRef {
  readonly root: string;
  readonly task: string;
  readonly address: string;
  readonly request: number;
}

export type Proposal = Pick<Proposed, 'slices' | 'lens' | 'reasoning' | 'confidence' | 'objections'>;
export type Opinion = Pick<Reviewed, 'verdict' | 'confidence' | 'reasons'>;

interface Room {
  readonly children_left: number;
  readonly depth_left: number;
}

export type CouncilCommand = { readonly about: RequestRef } & (
  | {
      readonly type: 'convene';
      /** Null: nobody is there who could propose anything. */
      readonly adapter: string | null;
      readonly documents: readonly string[];
      readonly room: Room;
    }
  /** `spent` is of this one answer. */
  | { readonly type: 'propose'; readonly proposal: Proposal; readonly spent: CouncilSpent }
  | { readonly type: 'review'; readonly review: Opinion; readonly spent: CouncilSpent }
  /** What the request may cost is used up. */
  | { readonly type: 'stop_short' }
  /** `spent` is of what was answered before it; left out: nothing was. */
  | {
      readonly type: 'fault';
      readonly fault: Pick<Faulted, 'class' | 'retry_after_ms' | 'detail' | 'provider'>;
      readonly spent?: CouncilSpent;
    }
);

/** How far the answer to one request is; what is asked next follows from it alone. */
export interface Council {
  readonly next: 'convene' | 'direction' | 'review' | 'nothing';
  readonly attempt: number;
  readonly adapter: string | null;
  readonly proposal: Proposal | null;
  /** Why the first proposal was not taken. */
  readonly objections: readonly string[];
  readonly spent: CouncilSpent;
}

const NOTHING_SPENT: CouncilSpent = { duration_ms: 0, money_micros: 0, tokens: 0 };

const LAST_ATTEMPT = 2;

type Decision = { readonly reason: string; readonly confidence: Proposed['confidence'] };

const no = ({ about }: CouncilCommand, { adapter, spent }: Council, decision: Decision): DecomposerEvent => ({
  type: 'split_decided',
  data: { ...about, ...decision, should_decompose: false, adapter, spent },
});

const certain = (reason: string): Decision => ({ reason, confidence: 'high' });

const convene = (command: CouncilCommand & { type: 'convene' }, state: Council): DecomposerEvent[] => {
  if (state.next !== 'convene') return [];
  const { about, adapter, documents, room } = command;
  const convened: DecomposerEvent = {
    type: 'council_convened',
    data: { ...about, adapter, documents: [...documents] },
  };
  const held = { ...state, adapter };
  if (adapter === null) return [convened, no(command, held, certain('no_council'))];
  if (room.children_left < 2) return [convened, no(command, held, certain('no_children_left'))];
  if (room.depth_left < 1) return [convened, no(command, held, certain('no_depth_left'))];
  return [convened];
};

const isReviewable = ({ slices, objections }: Proposal): boolean => slices.length >= 2 && objections.length === 0;

/** One that is certain of its no, or of what does not pass the checks, is not asked again; a single slice is a slip. */
const isFinal = ({ slices, confidence }: Proposal, attempt: number): boolean =>
  attempt >= LAST_ATTEMPT || (confidence === 'high' && slices.length !== 1);

const reasonOf = ({ objections, reasoning }: Proposal): string =>
  objections.length === 0 ? reasoning : objections.join('; ');

const propose = (command: CouncilCommand & { type: 'propose' }, state: Council): DecomposerEvent[] => {
  if (state.next !== 'direction') return [];
  const { about, proposal } = command;
  const spent = plus(state.spent, command.spent);
  const data = { ...about, attempt: state.attempt, ...proposal, spent };
  const proposed: DecomposerEvent = { type: 'slicing_proposed', data };
  if (isReviewable(proposal) || !isFinal(proposal, state.attempt)) return [proposed];
  const decision = { reason: reasonOf(proposal), confidence: proposal.confidence };
  return [proposed, no(command, { ...state, spent }, decision)];
};

const review = (command: CouncilCommand & { type: 'review' }, state: Council): DecomposerEvent[] => {
  const { proposal, attempt, adapter } = state;
  if (state.next !== 'review' || proposal === null) return [];
  const { about } = command;
  const { verdict, confidence, reasons } = command.review;
  const spent = plus(state.spent, command.spent);
  const data = { ...about, attempt, ...command.review, spent };
  const reviewed: DecomposerEvent = { type: 'split_reviewed', data };
  if (verdict === 'approve') {
    const decided = { ...about, should_decompose: true as const, slices: proposal.slices, adapter, spent };
    return [reviewed, { type: 'split_decided', data: { ...decided, reason: proposal.reasoning, confidence } }];
  }
  const isLast = attempt >= LAST_ATTEMPT || (verdict === 'reject' && confidence === 'high');
  if (!isLast) return [reviewed];
  return [reviewed, no(command, { ...state, spent }, { reason: reasons.join('; ') || verdict, confidence })];
};

const fault = (command: CouncilCommand & { type: 'fault' }, { next, spent }: Council): DecomposerEvent[] =>
  next === 'nothing'
    ? []
    : [
        {
          type: 'council_faulted',
          data: { ...command.about, ...command.fault, spent: plus(spent, command.spent ?? NOTHING_SPENT) },
        },
      ];

const decide = (command: CouncilCommand, state: Council): DecomposerEvent[] => {
  switch (command.type) {
    case 'convene':
      return convene(command, state);
    case 'propose':
      return propose(command, state);
    case 'review':
      return review(command, state);
    case 'stop_short':
      return state.next === 'nothing' ? [] : [no(command, state, certain('budget_used_up'))];
    case 'fault':
      return fault(command, state);
    default:
      return command satisfies never;
  }
};

const evolve = (state: Council, event: DecomposerEvent): Council => {
  if (state.next === 'nothing') return state;
  switch (event.type) {
    case 'council_convened':
      return { ...state, next: 'direction', adapter: event.data.adapter };
    case 'slicing_proposed':
      return afterProposal(state, event.data);
    case 'split_reviewed':
      return {
        ...state,
        ...{ next: 'direction', attempt: event.data.attempt + 1, proposal: null },
        ...{ objections: event.data.reasons, spent: event.data.spent },
      };
    case 'split_decided':
    case 'council_faulted':
      return { ...state, next: 'nothing', spent: event.data.spent };
    default:
      return state;
  }
};

const afterProposal = (state: Council, data: Proposed): Council => {
  const { attempt, spent, objections } = data;
  if (isReviewable(data)) return { ...state, next: 'review', attempt, proposal: data, spent };
  return { ...state, next: 'direction', attempt: attempt + 1, proposal: null, objections, spent };
};

const plus = (one: CouncilSpent, other: CouncilSpent): CouncilSpent => ({
  duration_ms: one.duration_ms + other.duration_ms,
  money_micros: one.money_micros + other.money_micros,
  tokens: one.tokens + other.tokens,
});

/**
 * Stream `council-<task>-<request>`: is a stalled unit split, and how. A proposal, deterministic checks, a review that sees
 * no reasoning; in doubt the whole pair once more. Source: docs/rules.md (Council).
 */
export const council: Decider<CouncilCommand, DecomposerEvent, Council> = {
  initial: { next: 'convene', attempt: 1, adapter: null, proposal: null, objections: [], spent: NOTHING_SPENT },
  decide,
  evolve,
};
