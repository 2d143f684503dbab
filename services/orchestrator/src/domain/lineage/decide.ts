import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { Decider } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';
import { accountFor } from './budget/accounting.ts';
import { withinBudget } from './budget/within-budget.ts';
import { cancelTask } from './cancel-task.ts';
import {
  type CancelTask,
  type ClaimHandoff,
  type Context,
  type DeadLetter,
  type DecideHandoff,
  type EndDeadLetter,
  type EscalateChild,
  type LineageCommand,
  OPEN,
  type SubmitChild,
  type SweepUnit,
} from './commands.ts';
import { decideSplit, giveUpRequest } from './council.ts';
import { deadLetter, endDeadLetter } from './dead-letter.ts';
import { withinDeadline } from './deadline.ts';
import { claimHandoff } from './decisions/claim-handoff.ts';
import { decideHandoff } from './decisions/decide-handoff.ts';
import { landWaiting } from './enter-node.ts';
import { escalateChild } from './epics/escalate-child.ts';
import { submitChild } from './epics/submit-child.ts';
import { sweepUnit } from './epics/sweep.ts';
import { evolve } from './evolve.ts';
import { faultRun, refuseRun, regateRun } from './faults.ts';
import { blockRun, escalateRun } from './gate-answered.ts';
import { judgeRun } from './judged.ts';
import { followedBy, type Turn } from './lookup.ts';
import { endRun } from './run-ended.ts';
import { startQueued } from './start-queued.ts';
import type { Facts, Lineage } from './state.ts';
import { submitTask } from './submit.ts';
import { timerDue } from './timers.ts';
import { withinProtocol } from './within-protocol.ts';

const decide = (command: LineageCommand, state: Lineage): Facts => {
  if (command.type === 'submit_task') return submitTask(command, state);
  if (state.status === 'unknown') throw new Refused('lineage_unknown');
  const turn: Turn = { ...contextOf(command), state };
  return followedBy(turn, accountFor(command, turn), (accounted) => {
    const answered = withinDeadline(accounted, landWaiting(accounted, answer(command, accounted)));
    return withinProtocol(accounted, withinBudget(accounted, answered));
  });
};

/** All that is not the command itself. */
const contextOf = ({
  now,
  mode,
  askCondition,
  admission = OPEN,
  agentModels = [],
  withdrawn = null,
}: LineageCommand): Context => ({
  now,
  admission,
  mode,
  askCondition,
  agentModels,
  withdrawn,
});

type Answer = Exclude<LineageCommand, { type: 'submit_task' }>;

const answer = (command: Answer, turn: Turn): Facts => {
  switch (command.type) {
    case 'block_run':
      return blockRun(command, turn);
    case 'escalate_run':
      return escalateRun(command, turn);
    case 'refuse_run':
      return refuseRun(command, turn);
    case 'end_run':
      return endRun(command, turn);
    case 'judge_run':
      return judgeRun(command, turn);
    case 'fault_run':
      return faultRun(command, turn);
    case 'regate_run':
      return regateRun(command, turn);
    case 'decide_split':
      return decideSplit(command, turn);
    case 'give_up_request':
      return giveUpRequest(command, turn);
    case 'start_queued':
      return startQueued(command, turn);
    case 'timer_due':
      return timerDue(command, turn);
    default:
      return answerToOther(command, turn);
  }
};

type Other =
  | CancelTask
  | DeadLetter
  | EndDeadLetter
  | SubmitChild
  | EscalateChild
  | SweepUnit
  | DecideHandoff
  | ClaimHandoff;

const answerToOther = (command: Other, turn: Turn): Facts => {
  switch (command.type) {
    case 'cancel_task':
      return cancelTask(command, turn);
    case 'dead_letter':
      return deadLetter(command, turn);
    case 'end_dead_letter':
      return endDeadLetter(command, turn);
    case 'submit_child':
      return submitChild(command, turn);
    case 'escalate_child':
      return escalateChild(command, turn);
    case 'sweep_unit':
      return sweepUnit(command, turn);
    case 'decide_handoff':
      return decideHandoff(command, turn);
    case 'claim_handoff':
      return claimHandoff(command, turn);
    default:
      return command satisfies never;
  }
};

/** Stream `lineage-{root}`: a root, its runs and its recovery closure, until it ends or waits for a human. */
export const lineage: Decider<LineageCommand, LineageEvent, Lineage> = {
  initial: { status: 'unknown' },
  decide,
  evolve,
};
