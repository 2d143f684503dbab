import type { Timer, TimerDue } from './commands.ts';
import { councilRequest } from './council-request.ts';
import { passDeadline } from './deadline.ts';
import { isIdle } from './epics/landing.ts';
import { startRecompose } from './epics/recompose.ts';
import { handoffDue } from './expiry.ts';
import { type Turn, unitOf } from './lookup.ts';
import { start } from './start-run.ts';
import type { Facts } from './state.ts';
import { ownEpicOf } from './tree.ts';

/** A timer that is early, late or repeated finds another state and does nothing. */
export const timerDue = (command: TimerDue, turn: Turn): Facts => {
  const { timer } = command;
  switch (timer.kind) {
    case 'retry':
      return retryDue(turn, timer);
    case 'request':
      return requestDue(turn, timer);
    case 'recompose':
      return recomposeDue(turn, timer);
    case 'warning':
    case 'expiry':
      return handoffDue(turn, timer);
    case 'deadline':
      return passDeadline(turn);
    default:
      return timer satisfies never;
  }
};

const retryDue = (turn: Turn, timer: Extract<Timer, { kind: 'retry' }>): Facts => {
  const task = turn.state.tasks[timer.task];
  const retry = task?.retry;
  if (!task || !retry || retry.after !== timer.run || task.status !== 'open') return [];
  const { kind, purpose, startRef: ref, judges } = retry;
  return start(turn, task, { kind, purpose, ref, judges, nodeIndex: task.nodeIndex, basis: task.basis });
};

const requestDue = (turn: Turn, timer: Extract<Timer, { kind: 'request' }>): Facts => {
  const task = turn.state.tasks[timer.task];
  if (task?.status !== 'open') return [];
  const { number, retryAt } = unitOf(turn.state, task).request;
  return retryAt === null || number !== timer.request ? [] : [councilRequest(turn, task)];
};

const recomposeDue = (turn: Turn, { task: id, attempt }: Extract<Timer, { kind: 'recompose' }>): Facts => {
  const task = turn.state.tasks[id];
  const epic = task === undefined ? null : ownEpicOf(turn.state, task);
  if (task?.status !== 'open' || !isIdle(task) || epic?.closed !== false) return [];
  const { failed, retryAt } = epic.recompose;
  return retryAt === null || failed !== attempt ? [] : startRecompose(turn, task);
};
