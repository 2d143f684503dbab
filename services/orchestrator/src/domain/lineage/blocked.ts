import type { Judged } from '@fixpoint/contracts/events/handoff-events';
import type { HaltType, Verdict } from '@fixpoint/contracts/verdict';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { bounded, boundedVerdicts } from './bounded.ts';
import { cancelBelow } from './end-unit.ts';
import { holdEpic } from './epics/hold.ts';
import { type Cause, handOff, NO_FINDINGS, withdrawal } from './handoff.ts';
import { followedBy, nodeOf, refOf, type Turn } from './lookup.ts';
import { withData } from './node-data.ts';
import { endBlockedFix } from './recovery.ts';
import { specHashOf } from './start-run.ts';
import type { Facts, Task } from './state.ts';

export interface Stop {
  readonly task: Task;
  readonly run: number;
  readonly haltType: HaltType;
  readonly rawHaltType: string;
  readonly verdicts: readonly Verdict[];
  readonly detail: string;
}

const DETAIL_BYTES = 4 * 1024;

/** Who objected, and what they said; for people, so the verdicts beside it have the rest. */
export const objections = (verdicts: readonly Verdict[]): string => {
  const lines = verdicts
    .filter(({ severity, error }) => severity !== 'pass' || error)
    .map(({ validator, justification }) => `${validator}: ${justification}`);
  return bounded(lines.join('\n'), DETAIL_BYTES, 'the whole is in the verdicts');
};

/** A hard stop (INV3): the unit is blocked for good; in a fix its closure has ended. */
export const block = (turn: Turn, stop: Stop): Facts => {
  const { task, run } = stop;
  if (task.kind === 'fix') return endBlockedFix(turn, { task, run, cause: stop.rawHaltType });
  const blocked: Facts = [
    {
      type: 'task_blocked',
      data: {
        ...refOf(turn.state, task),
        run,
        halt_type: stop.haltType,
        raw_halt_type: stop.rawHaltType,
        verdicts: boundedVerdicts(stop.verdicts),
        detail: stop.detail,
        runs: task.runs,
      },
    },
    ...withdrawal(turn, task, 'task_blocked'),
    ...cancelBelow(turn, task, 'the task above it was blocked'),
  ];
  return followedBy(turn, blocked, (later) => holdEpic(later, task));
};

export interface Withheld extends Stop {
  readonly help: 'needs_authority' | 'choice';
  readonly phase: Judged['phase'];
  /** What was looked at. */
  readonly ref: WorkspaceRef | null;
}

/** Only a human may say yes: the unit waits for one; in a fix its closure has ended. */
export const askHuman = (turn: Turn, stop: Withheld): Facts => {
  const { task, run, rawHaltType } = stop;
  if (task.kind === 'fix') return endBlockedFix(turn, { task, run, cause: rawHaltType });
  return handOff(turn, task, withheld(turn, stop));
};

const withheld = (turn: Turn, stop: Withheld): Cause => {
  const { run, haltType, rawHaltType, help, detail, verdicts } = stop;
  const cause = { ...NO_FINDINGS, haltType, rawHaltType, help, detail, verdicts, run };
  const judged = judgedOf(turn, stop);
  return judged === null ? cause : { ...cause, judged };
};

const judgedOf = ({ state }: Turn, { task, phase, ref }: Withheld): Judged | null => {
  const { current } = task;
  if (current === null) return null;
  const spec_hash = specHashOf(task, task.nodeIndex, withData(nodeOf(task), task, state));
  const { run, kind: run_kind, judges } = current;
  return { phase, run, run_kind, judges, spec_hash, workspace_ref: ref };
};
