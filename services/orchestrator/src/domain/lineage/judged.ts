import { askHuman, block, objections, type Stop } from './blocked.ts';
import type { Judgement, JudgeRun, RunResult } from './commands.ts';
import { completeNode } from './completion.ts';
import { countRun, NOT_JUDGED } from './count-run.ts';
import { notResolved } from './decisions/not-resolved.ts';
import { landed, landingFailed } from './epics/land.ts';
import { isLanding } from './epics/landing-of.ts';
import { fixNodes } from './fix-nodes.ts';
import { followedBy, inFlight, type Turn, taskOf, unitOf } from './lookup.ts';
import { isRepeated, recover } from './recovery.ts';
import { afterStallStep } from './stall/next-step.ts';
import type { Facts, Run, Task } from './state.ts';

interface Judged {
  readonly task: Task;
  readonly run: Run;
  readonly judgement: Judgement;
  readonly result: RunResult;
}

/** What a judgement leads to. */
export const judgeRun = (command: JudgeRun, turn: Turn): Facts => {
  const { judgement, result } = command;
  const flight = inFlight(turn.state, judgement.task, judgement.run);
  if (flight === null) return [];
  const judged = { ...flight, judgement, result };
  switch (judgement.outcome) {
    case 'proceed':
    case 'proceed_with_log':
      return isLanding(judged.run.kind) ? landed(turn, judged) : completeNode(turn, judged);
    case 'recover':
      return isLanding(judged.run.kind) ? landingFailed(turn, judged) : objected(turn, judged);
    case 'escalate':
      return askHuman(turn, { ...stopOf(judged), ...lookedAt(judged), help: 'choice' });
    case 'blocked_overridable':
      return askHuman(turn, { ...stopOf(judged), ...lookedAt(judged), help: 'needs_authority' });
    case 'halt':
      return block(turn, stopOf(judged));
    default:
      return judgement.outcome satisfies never;
  }
};

const stopOf = ({ task, judgement }: Judged): Stop => ({
  task,
  run: judgement.run,
  haltType: judgement.halt_type ?? 'blocker',
  rawHaltType: judgement.raw_halt_type ?? judgement.outcome,
  verdicts: judgement.verdicts,
  detail: objections(judgement.verdicts) || judgement.reason,
});

const lookedAt = ({ judgement, result, run }: Judged) => ({
  phase: 'judge' as const,
  ref: judgement.workspace_ref ?? result.workspace_ref ?? run.startRef,
});

/** A unit that has stalled is not repaired any more; any other recovers. */
const objected = (turn: Turn, judged: Judged): Facts => {
  const { task, judgement, result } = judged;
  const stalled = unitOf(turn.state, task).stall !== null;
  const repeated = isRepeated(turn, task, judgement.signature);
  const unfixable = !stalled && !repeated && fixNodes(turn.mode, judgement.triggering_validators).length === 0;
  const { outcome, signature } = judgement;
  const counted = countRun(turn, judged, { ...NOT_JUDGED, judged: outcome, signature, unfixable, result });
  return followedBy(turn, [counted], (after) => {
    const counted = taskOf(after.state, task.id);
    if (unitOf(after.state, task).resolving) return notResolved(after, counted, stopOf(judged));
    if (stalled) return afterStallStep(after, counted);
    return recover(after, counted, failureOf(judged, repeated));
  });
};

const failureOf = ({ judgement, result, run }: Judged, repeated: boolean) => ({
  run: judgement.run,
  triggering: judgement.triggering_validators,
  said: judgement.verdicts
    .filter(({ validator }) => judgement.triggering_validators.includes(validator))
    .map(({ validator, severity, justification }) => ({ validator, severity, justification })),
  signature: judgement.signature,
  repeated,
  ref: judgement.workspace_ref ?? result.workspace_ref ?? run.startRef,
});
