import type { FailureSignal } from '@fixpoint/contracts/events/epic-events';
import { boundedBrief, jsonBytes } from '../bounded.ts';
import { nodeOf, type Turn, unitOf } from '../lookup.ts';
import type { Task } from '../state.ts';

/** Room for all children in the event that makes them. */
const CHILDREN_BYTES = 52 * 1024;
/** What is left of one event for a brief, by the rule of briefs. */
const EVENT_BYTES = 56 * 1024;

/** What every child of a split is told: why its parent stalled and what was tried in vain. It fits once for each of them. */
export const failureSignal = (turn: Turn, unitTask: Task, children: readonly object[]): FailureSignal => {
  const unit = unitOf(turn.state, unitTask);
  const brief = {
    intent: '',
    justifications: unit.stall === null ? [] : [stallOf(turn, unitTask)],
    prior_failures: [...unit.failures],
  };
  const room = Math.floor((CHILDREN_BYTES - jsonBytes(children)) / Math.max(1, children.length));
  const largest = Math.max(0, ...children.map(jsonBytes)) + jsonBytes(turn.state.intent);
  const { intent: _, ...signal } = boundedBrief(brief, Math.max(EVENT_BYTES - room, largest));
  return signal;
};

const stallOf = (turn: Turn, unitTask: Task): FailureSignal['justifications'][number] => {
  const { stall } = unitOf(turn.state, unitTask);
  const validator = unitTask.nodes.length === 0 ? unitTask.address : nodeOf(unitTask).id;
  const told = [`${stall?.haltType ?? ''}: ${stall?.rawHaltType ?? ''}`, ...(stall?.detail ? [stall.detail] : [])];
  return { validator, severity: 'blocker', justification: told.join('\n') };
};
