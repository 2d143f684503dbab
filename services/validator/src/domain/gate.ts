import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { Decider } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';

export type GateAnswer = EventNamed<
  'governance_passed' | 'governance_blocked' | 'governance_escalated' | 'gate_faulted'
>;
export type Judgement = EventNamed<'post_validated' | 'gate_faulted'>;
export type GateEvent = GateAnswer | Judgement;

export type GateCommand =
  /** May the run start? Asked when it is ready. */
  | { readonly type: 'answer_gate'; readonly answer: GateAnswer }
  /** Is its result good? Asked when it has ended with something to judge. */
  | { readonly type: 'judge_result'; readonly judgement: Judgement };

/** `stopped`: it never ran, or could not be judged; the orchestrator goes on with another run. */
export type Gate = 'unknown' | 'passed' | 'stopped' | 'judged';

const evolve = (state: Gate, event: GateEvent): Gate => {
  switch (event.type) {
    case 'governance_passed':
      return 'passed';
    case 'governance_blocked':
    case 'governance_escalated':
    case 'gate_faulted':
      return 'stopped';
    case 'post_validated':
      return 'judged';
    default:
      return state;
  }
};

const answerGate = (answer: GateAnswer, state: Gate): GateEvent[] => (state === 'unknown' ? [answer] : []);

const judgeResult = (judgement: Judgement, state: Gate): GateEvent[] => {
  if (state === 'unknown') throw new Refused('gate_unknown', `${judgement.data.task}#${judgement.data.run}`);
  return state === 'passed' ? [judgement] : [];
};

const decide = (command: GateCommand, state: Gate): GateEvent[] => {
  switch (command.type) {
    case 'answer_gate':
      return answerGate(command.answer, state);
    case 'judge_result':
      return judgeResult(command.judgement, state);
    default:
      return command satisfies never;
  }
};

/**
 * Stream `gate-<task>-<run>`: may one run start, and is its result good. The first answer to each question stands; a run
 * that was stopped or judged is never spoken of again. Source: docs/rules.md (Judging).
 */
export const gate: Decider<GateCommand, GateEvent, Gate> = { initial: 'unknown', decide, evolve };
