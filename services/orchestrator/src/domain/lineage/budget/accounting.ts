import type { Money } from '@fixpoint/contracts/events/budget-events';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { LineageCommand, RunResult } from '../commands.ts';
import { refOf, type Turn } from '../lookup.ts';
import type { Facts } from '../state.ts';
import { NO_MONEY } from './allowance.ts';
import { accountOf } from './evolve-budget.ts';

interface Report {
  readonly task: string;
  readonly run: number | null;
  readonly request: number | null;
  /** Null: nobody can tell, so all that was reserved is gone. */
  readonly spent: Money | null;
}

/**
 * What was reserved is replaced by what was spent as soon as anybody says so, be it late: what a run did after it was given
 * up is paid all the same. Only what is still reserved can be accounted for, so nothing is paid twice or paid back.
 */
export const accountFor = (command: LineageCommand, turn: Turn): Facts => {
  const report = reportIn(command);
  if (report === null) return [];
  const { task: id, run, request } = report;
  const reserved = turn.state.budget.reserved[accountOf(report)];
  const task = turn.state.tasks[id];
  if (reserved === undefined || task === undefined) return [];
  const spent = report.spent ?? reserved;
  const { spent: before } = turn.state.budget;
  const total = { money_micros: before.money_micros + spent.money_micros, tokens: before.tokens + spent.tokens };
  const accounted: LineageEvent = {
    type: 'run_accounted',
    data: { ...refOf(turn.state, task), run, request, spent, total },
  };
  return [accounted];
};

const reportIn = (command: LineageCommand): Report | null => {
  switch (command.type) {
    case 'end_run':
    case 'judge_run':
      return ofResult(command.result);
    case 'block_run':
    case 'escalate_run':
    case 'refuse_run':
      return notBegun(command.answer);
    case 'regate_run':
      return notBegun(command);
    case 'fault_run':
      if (command.phase === 'gate') return notBegun(command);
      return command.result && ofResult(command.result);
    case 'decide_split':
      return { task: command.answer.task, run: null, request: command.answer.request, spent: command.answer.spent };
    default:
      return null;
  }
};

const notBegun = ({ task, run }: Pick<RunResult, 'task' | 'run'>): Report => ({
  ...{ task, run, request: null },
  spent: NO_MONEY,
});

/** Who declares a run lost knows nothing of what it spent. */
const ofResult = ({ task, run, fault_class, spent: { money_micros, tokens } }: RunResult): Report => ({
  ...{ task, run, request: null },
  spent: fault_class === 'lost_executor' ? null : { money_micros, tokens },
});
