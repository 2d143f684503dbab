import { type Bounds, boundsSchema } from '@fixpoint/contracts/documents/protocol';
import type { DecisionOf } from '@fixpoint/contracts/human-decision';
import { Refused } from '@fixpoint/decider/refused';
import { begunAtMs } from '../budget/cost.ts';
import { boundsOf } from '../budget/effective-bounds.ts';
import { extendBudget } from '../budget/extend.ts';
import { councilRequest } from '../council-request.ts';
import { enterNode, resumeUnit } from '../enter-node.ts';
import { startRecompose } from '../epics/recompose.ts';
import { followedBy, type Turn, taskOf, unitOf } from '../lookup.ts';
import type { Facts, Handoff, Task } from '../state.ts';
import { isRecomposing, ownEpicOf } from '../tree.ts';
import { ALL, ASSEMBLY, usedUpAt } from '../used-up.ts';
import { isMoving, pausedAgain } from './retry.ts';

interface Extended {
  readonly handoff: Handoff;
  readonly decision: DecisionOf<'extend'>;
}

/** More of what was used up, and then on from where the unit stood still. @throws {Refused} for what is not more. */
export const extendUnit = (turn: Turn, unitTask: Task, { handoff, decision }: Extended): Facts => {
  const bounds = moreThan(boundsOf(turn, unitTask), decision.limits);
  const extension = { bounds, deadlineAt: deadlineOf(turn, bounds), handoff: handoff.id };
  return followedBy(turn, extendBudget(turn, unitTask, extension), (later) =>
    goOn(later, taskOf(later.state, unitTask.id), handoff),
  );
};

const moreThan = (now: Bounds, limits: DecisionOf<'extend'>['limits']): Partial<Bounds> => {
  const asked = boundsSchema.partial().safeParse(limits);
  if (!asked.success || Object.keys(limits).length === 0) {
    throw new Refused('limit_unknown', asked.error?.issues[0]?.message ?? 'no limit is named');
  }
  const known: Readonly<Record<string, unknown>> = now;
  const less = Object.entries(limits).find(([name, limit]) => limit <= Number(known[name]));
  if (less !== undefined) throw new Refused('limit_not_raised', `${less[0]} is ${String(known[less[0]])} already`);
  return limits as Partial<Bounds>;
};

/** The whole life of a lineage counts from its submission. */
const deadlineOf = (turn: Turn, { deadline_ms: asked }: Partial<Bounds>): string | null => {
  if (asked === undefined) return null;
  const at = begunAtMs(turn) + asked;
  if (at <= Date.parse(turn.now)) throw new Refused('limit_not_raised', 'that time is over too');
  return new Date(at).toISOString();
};

const goOn = (turn: Turn, unitTask: Task, handoff: Handoff): Facts => {
  if (isMoving(turn, unitTask) || waits(turn, unitTask)) return [];
  if (unitTask.status !== 'open' || unitTask.landing !== null || unitTask.nodeDone) return resumeUnit(turn, unitTask);
  if (isRecomposing(turn.state, unitTask)) return startRecompose(turn, withRoom(turn, unitTask, ASSEMBLY));
  if (unitTask.nodes.length === 0) return [councilRequest(turn, unitTask)];
  const again = handoff.causes.some(stoppedAlone) ? pausedAgain(turn, unitTask, handoff) : null;
  return again ?? enterNode(turn, withRoom(turn, unitTask, ALL), unitTask.nodeIndex);
};

/** @throws {Refused} where another run would pass what is still used up: no limit is passed, whoever asks for it. */
const withRoom = (turn: Turn, unitTask: Task, counters: typeof ALL | typeof ASSEMBLY): Task => {
  // Wherever an assembly got to, it begins anew.
  const nodeIndex = ownEpicOf(turn.state, unitTask)?.nodeIndex ?? unitTask.nodeIndex;
  const full = usedUpAt(turn, unitTask, { nodeIndex, counters });
  if (full === null) return unitTask;
  throw new Refused('limit_not_raised', `${full.counter} is used up (${full.used} of ${full.limit}): raise it too`);
};

/** For the council, or for the time of a back-off: both come by themselves. */
const waits = ({ state }: Turn, unitTask: Task): boolean => {
  const { open, retryAt } = unitOf(state, unitTask).request;
  return (
    open || retryAt !== null || Object.values(state.tasks).some(({ unit, retry }) => unit === unitTask.id && retry)
  );
};

/** It stopped what would have gone on; at the floor there was nothing left to go on with. */
const stoppedAlone = ({ stage }: Handoff['causes'][number]): boolean =>
  stage === 'budget' || stage === 'infrastructure';
