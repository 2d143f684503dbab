import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { after, backoffMs } from '../backoff.ts';
import { boundsOf } from '../budget/effective-bounds.ts';
import { progressAt } from '../evolve-ready.ts';
import { firstRun } from '../first-run.ts';
import { handOff, NO_FINDINGS } from '../handoff.ts';
import { type BoundAnswer, recomposeBound } from '../limits.ts';
import { followedBy, nodeOf, refOf, type Turn, taskOf, unitOf } from '../lookup.ts';
import { VIABLE } from '../queue.ts';
import type { RunPlan } from '../run-plan.ts';
import { normalRun } from '../start-run.ts';
import type { Epic, Facts, Task } from '../state.ts';
import { ownEpicOf } from '../tree.ts';
import { ASSEMBLY, usedUpAt } from '../used-up.ts';
import { flooredDemotion, lifted, rank } from './affinity.ts';

/** What the children landed is taken up where the unit had stalled: lifted, so that it is dispatched, and run. */
export const startRecompose = (turn: Turn, unitTask: Task): Facts => {
  const epic = ownEpicOf(turn.state, unitTask);
  if (epic === null) return [];
  const started: LineageEvent = {
    type: 'recompose_started',
    data: {
      ...refOf(turn.state, unitTask),
      epic: epic.id,
      attempt: epic.recompose.failed + 1,
      node_index: epic.nodeIndex,
      workspace_ref: epic.ref,
    },
  };
  const facts = [
    started,
    ...rank(turn, unitTask, { change: (affinity) => lifted(affinity, VIABLE), reason: 'recompose_started' }),
  ];
  return followedBy(turn, facts, (later) => {
    const task = taskOf(later.state, unitTask.id);
    return assemble(later, task, { ...normalRun(task, 'recompose'), nodeIndex: epic.nodeIndex });
  });
};

/** A node of a recompose, unless what its runs count is used up: nothing has failed then, and a human may give it more. */
export const assemble = (turn: Turn, unitTask: Task, plan: RunPlan): Facts => {
  const { nodeIndex } = plan;
  const full = usedUpAt(turn, unitTask, { nodeIndex, counters: ASSEMBLY });
  if (full === null) return firstRun(turn, unitTask, plan);
  const node = nodeOf(unitTask, nodeIndex).id;
  const count = `${full.counter} of node ${node} are used up (${full.used} of ${full.limit})`;
  return handOff(
    turn,
    { ...unitTask, nodeIndex, node: progressAt(unitTask, nodeIndex) },
    {
      ...{ ...NO_FINDINGS, haltType: 'unmet', rawHaltType: full.counter, help: 'cannot_act', stage: 'recompose' },
      ...{ detail: `${count}: what the children left can not be put together`, run: null },
    },
  );
};

export interface RecomposeFailure {
  /** The run that showed it. */
  readonly run: number;
  /** What failed, comparable with the time before; null when nothing is known of it. */
  readonly signature: string | null;
  readonly reason: string;
}

/**
 * A real failure, and what the children proved stands: the unit sinks to the lowest rank that is still dispatched and is
 * tried again. Beside the tries a human hears of it, once it is clear that more of the same will not do.
 */
export const recomposeFailed = (turn: Turn, unitTask: Task, why: RecomposeFailure): Facts => {
  const epic = ownEpicOf(turn.state, unitTask);
  if (epic === null) return [];
  const repeated = why.signature !== null && why.signature === epic.recompose.signature;
  const attempt = epic.recompose.failed + 1;
  const bound = recomposeBound(attempt, boundsOf(turn, unitTask));
  const told = repeated || !bound.allowed || unitOf(turn.state, unitTask).handoff !== null;
  const nextAt = nextTry(turn, unitTask, { attempt, told, nodes: [epic.nodeIndex, unitTask.nodeIndex] });
  const failed: LineageEvent = {
    type: 'recompose_failed',
    data: {
      ...{ ...refOf(turn.state, unitTask), epic: epic.id, attempt, limit: bound.limit },
      ...{ signature: why.signature, reason: why.reason, next_at: nextAt, repeated },
    },
  };
  return followedBy(
    turn,
    [failed, ...rank(turn, unitTask, { change: flooredDemotion, reason: 'recompose_failed' })],
    (later) =>
      told || nextAt === null ? tell(later, taskOf(later.state, unitTask.id), { why, bound, epic, nextAt }) : [],
  );
};

interface NextTry {
  readonly attempt: number;
  readonly told: boolean;
  /** Places of those that it needs another run of: where it begins, and where it failed. */
  readonly nodes: readonly number[];
}

/** Once a human knows, at the longest back-off; never again when what its nodes count is used up. */
const nextTry = (turn: Turn, task: Task, { attempt, told, nodes }: NextTry): string | null => {
  if (nodes.some((nodeIndex) => usedUpAt(turn, task, { nodeIndex, counters: ASSEMBLY }) !== null)) return null;
  const delays = turn.mode.backoffs.recompose ?? [];
  return after(turn.now, backoffMs(turn.mode, 'recompose', told ? Math.max(attempt, delays.length) : attempt));
};

interface Told {
  readonly why: RecomposeFailure;
  readonly bound: BoundAnswer;
  readonly epic: Epic;
  readonly nextAt: string | null;
}

export const RECOMPOSE = 'recompose';

const tell = (turn: Turn, task: Task, { why, epic, nextAt }: Told): Facts => {
  const known = unitOf(turn.state, task).handoff?.causes.some(({ rawHaltType }) => rawHaltType === RECOMPOSE) ?? false;
  if (known && nextAt !== null) return [];
  const count = `${epic.children.length} children are done, and what they left can not be put together`;
  return handOff(turn, task, {
    ...{
      ...NO_FINDINGS,
      haltType: 'unmet',
      rawHaltType: RECOMPOSE,
      help: 'cannot_act',
      stage: 'recompose',
      run: why.run,
    },
    ...{ detail: `${count}: ${why.reason}`, runOpen: nextAt !== null },
  });
};
