import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { FailureSignal } from '@fixpoint/contracts/events/epic-events';
import { bounded, boundedBrief, jsonBytes } from '../bounded.ts';
import { boundsOf } from '../budget/effective-bounds.ts';
import type { RunResult } from '../commands.ts';
import { closeUnit, resumeUnit, runAgain } from '../enter-node.ts';
import { handOff, NO_FINDINGS } from '../handoff.ts';
import { integrateBound } from '../limits.ts';
import { followedBy, refOf, type Turn, taskOf, unitOf } from '../lookup.ts';
import type { Epic, Facts, Run, Task } from '../state.ts';
import { epicOfChild } from '../tree.ts';
import { verifiedEnding } from './closing.ts';

export interface Landed {
  readonly task: Task;
  readonly run: Run;
  readonly result: RunResult;
}

const DETAIL_BYTES = 4 * 1024;
/** Paths that one event names. */
const MOST_PATHS = 100;

/** The work stands where it belongs, by the check of the run that brought it there. */
export const landed = (turn: Turn, { task, run, result }: Landed): Facts => {
  const ending = verifiedEnding(turn.state, task);
  if (run.kind === 'deliver') return closeUnit(turn, task, ending);
  return closeUnit(turn, task, { ...ending, epicRef: result.workspace_ref ?? run.startRef });
};

/** Verified work is never discarded because landing it failed. */
export const landingFailed = (turn: Turn, failed: Landed): Facts => {
  const epic = epicOfChild(turn.state, failed.task);
  return failed.run.kind === 'integrate' && epic !== null ? conflicted(turn, failed, epic) : undelivered(turn, failed);
};

const undelivered = (turn: Turn, { task, run, result }: Landed): Facts =>
  handOff(turn, task, {
    ...{
      ...NO_FINDINGS,
      haltType: 'unmet',
      rawHaltType: 'deliver',
      help: 'cannot_act',
      stage: 'deliver',
      run: run.run,
    },
    detail: bounded(result.detail, DETAIL_BYTES, 'the whole is in the result of the run'),
  });

/** A failed merge is the child's failure: it goes on from the merge, in which the side of the epic wins. */
const conflicted = (turn: Turn, failed: Landed, epic: Epic): Facts => {
  const { task } = failed;
  const conflicts = task.conflicts + 1;
  const bound = integrateBound(conflicts, boundsOf(turn, task));
  const fact = integrationFailed(turn, failed, { epic, conflicts, limit: bound.limit });
  const goOn = (later: Turn): Facts =>
    bound.allowed ? runAgain(later, taskOf(later.state, task.id)) : askHuman(later, failed, conflicts);
  // Whoever waited for this merge to end has its turn, beside what the child does.
  return followedBy(turn, [fact], (later) =>
    followedBy(later, goOn(later), (after) => resumeUnit(after, taskOf(after.state, epic.task))),
  );
};

const askHuman = (turn: Turn, { task, run, result }: Landed, conflicts: number): Facts =>
  handOff(turn, taskOf(turn.state, task.id), {
    ...{
      ...NO_FINDINGS,
      haltType: 'unmet',
      rawHaltType: 'integrate',
      help: 'cannot_act',
      stage: 'integrate',
      run: run.run,
    },
    detail: `${conflicts} merges failed: ${bounded(result.detail, DETAIL_BYTES, 'the rest is in its result')}`,
  });

type Count = { readonly epic: Epic; readonly conflicts: number; readonly limit: number };

const integrationFailed = (turn: Turn, failed: Landed, { epic, conflicts, limit }: Count): LineageEvent => {
  const { task, run, result } = failed;
  return {
    type: 'integration_failed',
    data: {
      ...{ ...refOf(turn.state, task), epic: epic.id, run: run.run, conflicts, limit },
      paths: (result.merge_conflicts ?? []).slice(0, MOST_PATHS),
      base_ref: epic.ref,
      workspace_ref: result.workspace_ref ?? run.startRef,
      own_ref: task.accepted,
      failure_signal: signalOf(turn, failed),
      detail: bounded(result.detail, DETAIL_BYTES, 'the whole is in the result of the run'),
    },
  };
};

/** What the child is told: what clashed, and where its own version still is. */
const signalOf = (turn: Turn, { task, result }: Landed): FailureSignal => {
  const paths = result.merge_conflicts ?? [];
  const clash = paths.length === 0 ? 'its check does not hold on the merge' : `it clashes in ${paths.join(', ')}`;
  const own = task.accepted === null ? '' : `; its own version is commit ${task.accepted.commit}`;
  const justification = bounded(`${clash}${own}\n${result.detail}`, DETAIL_BYTES, 'the whole is in the result');
  const brief = {
    intent: turn.state.intent,
    justifications: [{ validator: 'integrate', severity: 'blocker', justification }],
    prior_failures: [...unitOf(turn.state, task).failures],
  };
  const { intent: _, ...signal } = boundedBrief(brief, jsonBytes(task.nodes) + jsonBytes(turn.state.intent));
  return signal;
};
