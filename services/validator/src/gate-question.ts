import type { Clock } from '@fixpoint/contracts/clock';
import { commandOf, type ModeSpec, type ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import { startsElsewhere } from '@fixpoint/contracts/human-decision';
import type { Verdict } from '@fixpoint/contracts/verdict';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { primitives } from '@fixpoint/execution/primitives/primitives';
import { type Decision, decideVerdicts } from '@fixpoint/validation/decide-verdicts';
import { firewallHash } from '@fixpoint/validation/firewall';
import { fitVerdicts } from '@fixpoint/validation/fit-verdicts';
import { judgeCommandRules, judgeDocument, judgeGovernance } from '@fixpoint/validation/judge-document';
import { type ValidatorAnswer, verdictOf } from '@fixpoint/validation/verdict';
import { askCommand, type CommandDeps } from './ask-command.ts';
import { type AnewDeps, decidedAnew, passedBefore } from './decided-anew.ts';
import type { GateAnswer } from './domain/gate.ts';
import type { NodeReady } from './run-lookup.ts';
import type { MintToken } from './run-tokens.ts';
import { askAll, faultEvent, type RecordedVerdicts, runRefOf } from './verdicts.ts';
import { type CopyDeps, type WorkspaceCopy, withCopy } from './workspace-copy.ts';

export interface GateDeps extends CopyDeps, AnewDeps, CommandDeps {
  readonly artifacts: Artifacts;
  readonly mint: MintToken;
  readonly clock: Clock;
}

/** Whether asking takes a process and a folder, and so a lease. */
export const isLongGate = (mode: ModeSpec): boolean => mode.pre.some(({ check }) => commandOf(check) !== null);

/** Verdicts of one event, which holds 64 KiB. */
export const VERDICT_BYTES = 40 * 1024;

export interface Asked {
  readonly mode: ModeSpec;
  readonly signal: AbortSignal;
  readonly recorded: RecordedVerdicts;
}

/** Asks whether a run may start. Without pre-validators it may not: nobody has looked. */
export const askGate = async (
  deps: GateDeps,
  run: NodeReady,
  { mode, signal, recorded }: Asked,
): Promise<GateAnswer> => {
  if (mode.pre.length === 0) return blocked(run, NO_PRE_VALIDATORS, []);
  const anew = await decidedAnew(deps, run, { phase: 'gate', tree: run.workspace_ref?.tree ?? null });
  if (anew !== null) return decided(deps, { run, mode, ...anew });
  const before = await passedBefore(deps, run);
  if (before !== null) return passed(deps, { run, mode, ...before });
  const asked = await withCopy(
    deps,
    { ref: startsElsewhere(run) ? null : run.workspace_ref, source: run.source },
    (copy) =>
      askAll(mode.pre, (validator) => askBefore(deps, { run, mode, copy, signal }, validator), {
        clock: deps.clock,
        ...{ signal, recorded },
      }),
  );
  if ('fault' in asked) return faultEvent(run, 'gate', asked.fault);
  const verdicts = fitVerdicts([...governanceVerdicts(run, mode), ...asked.verdicts], VERDICT_BYTES);
  return decided(deps, { run, mode, verdicts, lifted: [] });
};

interface Said {
  readonly run: NodeReady;
  readonly mode: ModeSpec;
  readonly verdicts: readonly Verdict[];
  readonly lifted: readonly string[];
}

const decided = (deps: GateDeps, { run, mode, verdicts, lifted }: Said): Promise<GateAnswer> => {
  const { consensus, recover_on: recoverOn } = mode;
  const decision = decideVerdicts({ phase: 'before', verdicts, consensus, recoverOn, lifted });
  return answerOf(deps, { run, mode, decision, verdicts });
};

const NO_PRE_VALIDATORS = { outcome: 'halt', haltType: 'validator_error', rawHaltType: 'no_pre_validators' } as const;

interface Before {
  readonly run: NodeReady;
  readonly mode: ModeSpec;
  readonly copy: WorkspaceCopy;
  readonly signal: AbortSignal;
}

const askBefore = async (
  deps: GateDeps,
  { run, mode, copy, signal }: Before,
  { check, timeout_ms, network }: ValidatorSpec,
): Promise<ValidatorAnswer> => {
  if ('document_schema' in check) return judgeDocument(run.node);
  if ('command_rules' in check) return judgeCommandRules(run.node, mode);
  if ('command' in check || 'report' in check) {
    return askCommand(deps, { check, timeout_ms, network }, { mode, copy, signal });
  }
  return { answer: 'error', justification: 'before execution there is nothing that this check could look at' };
};

/** Rules that do not apply say nothing; they are no votes. */
const governanceVerdicts = (run: NodeReady, mode: ModeSpec): Verdict[] =>
  judgeGovernance(mode, { task: taskOf(run), node: run.node }).flatMap(({ rule, answer }) => {
    const { id, severity, overridable } = rule;
    const verdict =
      answer.answer === 'pass' ? null : verdictOf({ id, severity, overridable, severity_cap: null }, answer, 0);
    return verdict === null ? [] : [verdict];
  });

/** The variable `task` of governance rules. */
const taskOf = (run: NodeReady) => ({
  root: run.root,
  task: run.task,
  address: run.address,
  kind: run.task_kind,
  project: run.scope.project,
  mode: run.scope.mode,
  intent: run.intent,
  run: run.run,
  run_kind: run.run_kind,
});

interface Answered {
  readonly run: NodeReady;
  readonly mode: ModeSpec;
  readonly decision: Decision;
  readonly verdicts: readonly Verdict[];
}

const answerOf = async (deps: GateDeps, { run, mode, decision, verdicts }: Answered): Promise<GateAnswer> => {
  const { outcome } = decision;
  switch (outcome) {
    case 'proceed':
    case 'proceed_with_log':
      return passed(deps, { run, mode, verdicts, outcome });
    case 'escalate': {
      const { haltType, rawHaltType } = decision;
      const halt = { halt_type: haltType ?? 'escalate', raw_halt_type: rawHaltType ?? outcome };
      return { type: 'governance_escalated', data: { ...runRefOf(run), ...halt, verdicts: [...verdicts] } };
    }
    case 'blocked_overridable':
    case 'halt':
      return blocked(run, { ...decision, outcome }, verdicts);
    default:
      throw new Error(`${outcome} is no answer before execution`);
  }
};

const blocked = (
  run: NodeReady,
  halt: Pick<Decision, 'haltType' | 'rawHaltType'> & { readonly outcome: 'halt' | 'blocked_overridable' },
  verdicts: readonly Verdict[],
): GateAnswer => ({
  type: 'governance_blocked',
  data: {
    ...runRefOf(run),
    outcome: halt.outcome,
    halt_type: halt.haltType ?? 'blocker',
    raw_halt_type: halt.rawHaltType ?? halt.outcome,
    verdicts: [...verdicts],
  },
});

interface Passed {
  readonly run: NodeReady;
  readonly mode: ModeSpec;
  readonly verdicts: readonly Verdict[];
  readonly outcome: 'proceed' | 'proceed_with_log';
}

const passed = async ({ mint }: GateDeps, { run, mode, verdicts, outcome }: Passed): Promise<GateAnswer> => {
  const firewall = firewallHash({ node: run.node, mode });
  return {
    type: 'governance_passed',
    data: {
      ...runRefOf(run),
      outcome,
      run_kind: run.run_kind,
      work: isInProcess(run) ? 'in_process' : 'long',
      token: await mint(run, firewall),
      workspace_ref: run.workspace_ref,
      verdicts: [...verdicts],
      firewall_hash: firewall,
    },
  };
};

/** Whether a run needs neither a process nor a folder: only the ladder and its check can do without. */
const isInProcess = ({ run_kind: kind, node: { recipe, postcondition, output_file } }: NodeReady): boolean =>
  (kind === 'normal' || kind === 'check') &&
  output_file === undefined &&
  'primitive' in recipe &&
  isInProcessPrimitive(recipe.primitive) &&
  (postcondition?.all ?? []).every((check) =>
    'primitive' in check ? isInProcessPrimitive(check.primitive) : !('command' in check),
  );

const isInProcessPrimitive = (name: string): boolean => primitives.get(name)?.inProcess === true;
