import { handoffIdAt } from '@fixpoint/contracts/addresses';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { type Help, type Judged, type Stage, stageOfHelp } from '@fixpoint/contracts/events/handoff-events';
import type { HaltType, Verdict } from '@fixpoint/contracts/verdict';
import { after } from './backoff.ts';
import { bounded, boundedVerdicts, jsonBytes } from './bounded.ts';
import { costOf } from './budget/cost.ts';
import { allowedDecisions } from './decisions/decision-table.ts';
import { isSameCause } from './evolve-handoff.ts';
import { refOf, startOf, type Turn, unitOf, unitTaskOf } from './lookup.ts';
import { agentTold } from './stall/auto-agent.ts';
import type { Facts, Handoff, Task } from './state.ts';

export interface Cause {
  readonly haltType: HaltType;
  readonly rawHaltType: string;
  readonly help: Help;
  /** Where the work stands still; left out, what that kind of help means. */
  readonly stage?: Stage;
  readonly detail: string;
  readonly verdicts: readonly Verdict[];
  readonly council: string | null;
  /** Whether what runs or waits for time goes on beside the handoff. */
  readonly runOpen: boolean;
  /** The run that the handoff is about; null when it is about none. */
  readonly run: number | null;
  /** Left out: it is about no dead letter. */
  readonly letter?: NonNullable<HumanRequired['letter']>;
  /** The verdicts that a human may lift; left out where there are none. */
  readonly judged?: Judged;
}

/** A goal may be 16 KiB, and verdicts stand beside it. */
const GOAL_BYTES = 8 * 1024;
const FIXES_BYTES = 8 * 1024;
const FIX_BYTES = 512;

export const NO_FINDINGS = { verdicts: [], council: null, runOpen: false } as const;

/** Hands the smallest failing slice to a human. One handoff a unit: a second cause is added to the open one. */
export const handOff = (turn: Turn, slice: Task, cause: Cause): Facts => {
  const { handoff } = unitOf(turn.state, slice);
  if (handoff === null) return [humanRequired(turn, slice, cause)];
  if (handoff.causes.some((known) => isSameCause(known, cause))) return [];
  return [handoffUpdated(turn, slice, { handoff, cause })];
};

const handoffUpdated = (
  turn: Turn,
  slice: Task,
  { handoff, cause }: { readonly handoff: Handoff; readonly cause: Cause },
): LineageEvent => {
  const unitTask = unitTaskOf(turn.state, slice);
  const fields = causeFields(cause);
  const causes = [...handoff.causes, { stage: fields.stage, help: fields.help }];
  return {
    type: 'handoff_updated',
    data: {
      ...refOf(turn.state, unitTask),
      handoff: handoff.id,
      version: handoff.version + 1,
      ...fields,
      run_open: cause.runOpen,
      decisions: allowedDecisions(turn, unitTask, causes),
    },
  };
};

const causeFields = ({ haltType, rawHaltType, help, stage, detail, letter }: Cause) => ({
  stage: stage ?? stageOfHelp(help),
  halt_type: haltType,
  raw_halt_type: rawHaltType,
  help,
  detail,
  ...(letter !== undefined && { letter }),
});

const humanRequired = (turn: Turn, slice: Task, cause: Cause): LineageEvent => {
  const unitTask = unitTaskOf(turn.state, slice);
  const fields = causeFields(cause);
  return {
    type: 'human_required',
    data: {
      ...refOf(turn.state, unitTask),
      handoff: handoffIdAt(unitTask.id, unitOf(turn.state, slice).handoffs + 1),
      version: 1,
      ...fields,
      slice: sliceOf(slice, cause),
      tried: tried(turn, slice, cause),
      verdicts: boundedVerdicts(cause.verdicts),
      judged: cause.judged ?? null,
      workspace_ref: slice.node.last?.ref ?? startOf(slice),
      evidence: evidenceOf(slice),
      cost: costOf(turn),
      run_open: cause.runOpen,
      decisions: allowedDecisions(turn, unitTask, [fields]),
      ...lifeOf(turn),
    },
  };
};

const sliceOf = (slice: Task, { run }: Cause): HumanRequired['slice'] => {
  const { id, goal } = slice.nodes[slice.nodeIndex] ?? { id: null, goal: slice.goal };
  return { task: slice.id, node_id: id, run, goal: bounded(goal, GOAL_BYTES, 'the whole is in the task') };
};

type HumanRequired = EventNamed<'human_required'>['data'];

const evidenceOf = ({ node: { last }, accepted }: Task): HumanRequired['evidence'] =>
  last && {
    run: last.run,
    outcome: last.outcome,
    exit_code: last.exitCode,
    workspace_ref: last.ref,
    accepted_ref: accepted,
  };

const lifeOf = ({ now, mode }: Turn): Pick<HumanRequired, 'warn_at' | 'expires_at' | 'on_expiry'> => ({
  warn_at: after(now, Math.floor((mode.handoff_expiry_ms * (mode.handoff_warnings[0] ?? 100)) / 100)),
  expires_at: after(now, mode.handoff_expiry_ms),
  on_expiry: mode.handoff_on_expiry,
});

const tried = (turn: Turn, slice: Task, { council }: Cause): HumanRequired['tried'] => {
  const unit = unitOf(turn.state, slice);
  return {
    runs: unit.runs,
    fix_attempts: unit.fixAttempts,
    rungs: [...unit.rungs],
    fixes: fixesTried(unit.failures),
    council,
    auto_agent: agentTold(turn, unitTaskOf(turn.state, slice)),
  };
};

/** The newest ones where there is not room for all. */
const fixesTried = (failures: readonly HumanRequired['tried']['fixes'][number][]): HumanRequired['tried']['fixes'] => {
  const said = failures.map(({ attempt, task, validator, justification }) => ({
    ...{ attempt, task, validator },
    justification: bounded(justification, FIX_BYTES, 'the whole is in the judgement'),
  }));
  while (jsonBytes(said) > FIXES_BYTES) said.shift();
  return said;
};

/** The end of a unit withdraws its open handoff in the same append. */
export const withdrawal = (turn: Turn, unitTask: Task, reason: string): Facts => {
  const { handoff } = unitOf(turn.state, unitTask);
  if (handoff === null) return [];
  return [{ type: 'handoff_withdrawn', data: { ...refOf(turn.state, unitTask), handoff: handoff.id, reason } }];
};
