import type { Clock } from '@fixpoint/contracts/clock';
import { commandOf, type ModeSpec, type ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import { restsOnWord } from '@fixpoint/contracts/human-decision';
import type { Json } from '@fixpoint/contracts/json';
import { judgementSignature } from '@fixpoint/contracts/signature';
import type { Finding, Verdict } from '@fixpoint/contracts/verdict';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { artifactText } from '@fixpoint/validation/artifact-text';
import { type Decision, decideVerdicts } from '@fixpoint/validation/decide-verdicts';
import { changedProtectedPaths } from '@fixpoint/validation/firewall';
import { fitVerdicts } from '@fixpoint/validation/fit-verdicts';
import { judgeByCel, judgeBySchema } from '@fixpoint/validation/judge-output';
import { type ValidatorAnswer, verdictOf } from '@fixpoint/validation/verdict';
import { askCommand, type CommandDeps } from './ask-command.ts';
import type { FindChanges } from './changes.ts';
import { type Anew, type AnewDeps, attestedBy, decidedAnew } from './decided-anew.ts';
import type { Judgement } from './domain/gate.ts';
import { VERDICT_BYTES } from './gate-question.ts';
import { type Action, actionOf, type NodeReady, printedBy } from './run-lookup.ts';
import { askAll, faultEvent, type RecordedVerdicts, runRefOf } from './verdicts.ts';
import { type CopyDeps, type WorkspaceCopy, withCopy } from './workspace-copy.ts';

export interface JudgeDeps extends CopyDeps, AnewDeps, CommandDeps {
  readonly artifacts: Artifacts;
  readonly changes: FindChanges;
  readonly clock: Clock;
}

/** A run that has ended with something to judge. */
export interface Ended {
  readonly run: NodeReady;
  readonly action: Action;
  readonly mode: ModeSpec;
}

/** Id of the first verdict of every judgement: what the executor's own check said. */
const POSTCONDITION = 'postcondition';
/** Id of the verdict on what a run must never touch. */
const FIREWALL = 'firewall';

/**
 * The post-validators that judge this run, in protocol order. A fix is judged with its last node, by those that it was
 * made for and by all that look at every node. Source: docs/rules.md (Judging, Recovery).
 */
const applicable = ({ run, mode }: Pick<Ended, 'run' | 'mode'>): readonly ValidatorSpec[] => {
  if (isLanding(run)) return [];
  const { judged_by: judgedBy, last_node: isLast, task_kind: kind } = run;
  if (judgedBy !== null) return mode.post.filter(({ id, on }) => isLast && (on === 'node' || judgedBy.includes(id)));
  return mode.post.filter(({ on }) => (kind === 'fix' ? isLast && on === 'node' : on === 'node' || isLast));
};

/** Verified work that was brought where it belongs: it has been judged, and only its own check is asked of this. */
const isLanding = ({ run_kind: kind }: Pick<NodeReady, 'run_kind'>): boolean =>
  kind === 'integrate' || kind === 'deliver';

/** Whether judging takes a process, files or a comparison of workspaces, and so a lease. */
export const isLongJudgement = (ended: Ended): boolean => {
  const validators = applicable(ended);
  const ref = ended.action.workspace_ref;
  const changed = ref !== null && ref.commit !== ref.base;
  if (changed && ended.mode.protected.length > 0) return true;
  return validators.some(({ check }) => commandOf(check) !== null || ('secret_scan' in check && changed));
};

/** Asks whether the result of a run is good. The set of verdicts is never empty: the postcondition's comes first. */
export const askJudges = async (
  deps: JudgeDeps,
  ended: Ended,
  { signal, recorded }: { readonly signal: AbortSignal; readonly recorded: RecordedVerdicts },
): Promise<Judgement> => {
  const { run, action } = ended;
  const validators = applicable(ended);
  const anew = await saidBefore(deps, ended);
  if (anew !== null) return judged(ended, anew, false);
  const source = { ref: action.workspace_ref, source: run.source };
  const asked = await withCopy(deps, source, async (copy) => {
    const broken = await brokenFirewall(deps, ended, copy);
    const said = await askAll(validators, (validator) => askAfter(deps, { ...ended, copy, signal }, validator), {
      clock: deps.clock,
      ...{ signal, recorded },
    });
    return { said, broken };
  });
  if ('fault' in asked.said) return faultEvent(run, 'judge', asked.said.fault);
  const own = restsOnWord(run) ? wordVerdict(await attestedBy(deps, run)) : postconditionVerdict(action);
  const verdicts = [own, ...asked.broken, ...asked.said.verdicts];
  return judged(ended, { verdicts, lifted: [] }, validators.length === 0 && action.postcondition_met === null);
};

/** What was said of this spec and tree before, and who of it a human lifts; what the run's own check says now stands. */
const saidBefore = async (deps: JudgeDeps, { run, action }: Ended): Promise<Anew | null> => {
  if (action.firewall_broken !== null) return null;
  const anew = await decidedAnew(deps, run, { phase: 'judge', tree: action.workspace_ref?.tree ?? null });
  if (anew === null) return null;
  const others = anew.verdicts.filter(({ validator }) => validator !== POSTCONDITION);
  return { ...anew, verdicts: [postconditionVerdict(action), ...others] };
};

const judged = (
  { run, action, mode }: Ended,
  { verdicts, lifted: byHumans }: Anew,
  exitCodeOnly: boolean,
): Judgement => {
  const { consensus, recover_on: recoverOn } = mode;
  const decision = decideVerdicts({
    phase: 'after',
    verdicts,
    consensus,
    recoverOn,
    lifted: [...lifted(run, action, { verdicts, recoverOn }), ...byHumans],
  });
  const { outcome, reason } = named(decision, { run, action }, exitCodeOnly);
  return {
    type: 'post_validated',
    data: {
      ...runRefOf(run),
      node_id: run.node.id,
      outcome,
      reason,
      halt_type: decision.haltType,
      raw_halt_type: decision.rawHaltType,
      verdicts: [...fitVerdicts(verdicts, VERDICT_BYTES)],
      triggering_validators: [...decision.triggering],
      signature: judgementSignature(verdicts, action.workspace_ref?.tree ?? null),
      workspace_ref: action.workspace_ref,
    },
  };
};

/** Policy `best_effort` lifts its own unmet postcondition; in a fix, warnings that nothing recovers from wait for the parent. */
const lifted = (
  run: NodeReady,
  action: Action,
  { verdicts, recoverOn }: { readonly verdicts: readonly Verdict[]; readonly recoverOn: ModeSpec['recover_on'] },
): string[] => {
  const degraded = action.outcome === 'degraded' ? [POSTCONDITION] : [];
  if (run.task_kind !== 'fix' || recoverOn.includes('warning')) return degraded;
  return [...degraded, ...verdicts.filter(({ severity }) => severity === 'warning').map(({ validator }) => validator)];
};

const named = (
  decision: Decision,
  { run, action }: Pick<Ended, 'run' | 'action'>,
  exitCodeOnly: boolean,
): Pick<Decision, 'outcome' | 'reason'> => {
  const { outcome, reason } = decision;
  if (outcome === 'proceed' && isLanding(run)) return { outcome, reason: 'own_check' };
  if (outcome === 'proceed' && restsOnWord(run)) return { outcome: 'proceed_with_log', reason: 'attested' };
  if (outcome === 'proceed' && exitCodeOnly) return { outcome: 'proceed_with_log', reason: 'exit_code_only' };
  return { outcome, reason: outcome === 'proceed_with_log' && action.outcome === 'degraded' ? 'degraded' : reason };
};

const spec = (id: string) => ({ id, severity: 'blocker', severity_cap: null, overridable: false }) as const;

const WITHOUT_CHECK: Readonly<Record<string, string>> & { normal: string } = {
  normal: 'exit code 0; there is no postcondition',
  integrate: 'merged without a clash; there is no postcondition that could be asked of the whole',
};
const WITH_CHECK: Readonly<Record<string, string>> & { normal: string } = {
  normal: 'the postcondition is met',
  integrate: 'merged without a clash, and the postcondition is met by the whole',
  deliver: 'the branch holds the result',
};

const postconditionVerdict = ({ run_kind: kind, outcome, postcondition_met: met, detail }: Action): Verdict => {
  const justification =
    met === null ? (WITHOUT_CHECK[kind] ?? WITHOUT_CHECK.normal) : (WITH_CHECK[kind] ?? WITH_CHECK.normal);
  const verdict =
    outcome === 'degraded'
      ? verdictOf(
          { ...spec(POSTCONDITION), severity_cap: 'warning' },
          { answer: 'fail', justification: detail || 'unmet' },
          0,
        )
      : verdictOf(spec(POSTCONDITION), { answer: 'pass', justification }, 0);
  if (verdict === null) throw new Error('a postcondition always has a verdict');
  return verdict;
};

/** In place of a check that there is not. Nobody's word is no evidence: back to a human, who may say more. */
const wordVerdict = (who: string | null): Verdict => {
  const answer =
    who === null
      ? ({ answer: 'fail', justification: 'nobody whom this validator believes has signed that it is done' } as const)
      : ({ answer: 'pass', justification: `attested by ${who}; there is no postcondition` } as const);
  const verdict = verdictOf({ ...spec(POSTCONDITION), overridable: true }, answer, 0);
  if (verdict === null) throw new Error('a word always has a verdict');
  return verdict;
};

/** The judge was changed, or something that no run may change: a blocker that nobody overrides. */
const brokenFirewall = async (deps: JudgeDeps, { action, mode }: Ended, copy: WorkspaceCopy): Promise<Verdict[]> => {
  const told = action.firewall_broken;
  const ref = action.workspace_ref;
  const isWatched = mode.protected.length > 0 && ref !== null;
  const paths = isWatched ? changedProtectedPaths(mode.protected, (await deps.changes(ref, copy)).paths) : [];
  if (told === null && paths.length === 0) return [];
  const findings = paths.map(
    (path): Finding => ({ rule: 'protected', path, line: null, criterion: null, message: 'may not be changed' }),
  );
  const justification = [told ?? '', paths.length === 0 ? '' : `changed: ${paths.join(', ')}`]
    .filter((text) => text !== '')
    .join('; ');
  const verdict = verdictOf(spec(FIREWALL), { answer: 'fail', justification, findings }, 0);
  return verdict === null ? [] : [verdict];
};

interface After extends Ended {
  readonly copy: WorkspaceCopy;
  readonly signal: AbortSignal;
}

const askAfter = async (
  deps: JudgeDeps,
  after: After,
  { check, timeout_ms, network }: ValidatorSpec,
): Promise<ValidatorAnswer> => {
  if ('secret_scan' in check) return askSecretScan(deps, after);
  if ('command' in check || 'report' in check) {
    return askCommand(deps, { check, timeout_ms, network }, after);
  }
  if ('json_schema' in check) return judgeBySchema({ check, timeout_ms }, await outputOf(deps, after));
  if ('cel' in check) return judgeByCel({ check, timeout_ms }, await evidenceOf(deps, after));
  return { answer: 'error', justification: 'this check only makes sense before execution' };
};

const askSecretScan = async ({ changes }: JudgeDeps, { action, copy }: After): Promise<ValidatorAnswer> => {
  const ref = action.workspace_ref;
  const findings = ref === null ? [] : (await changes(ref, copy)).secrets;
  if (findings.length === 0) return { answer: 'pass', justification: 'no secret was added' };
  const places = findings.map(
    ({ rule, path, line }) => `${path ?? 'the patch'}${line === null ? '' : `:${line}`} ${rule}`,
  );
  return { answer: 'fail', justification: `secrets were added:\n${places.join('\n')}`, findings };
};

/** Output of the run whose result is judged; a check run after another one has none of its own, unless it is a file. */
const producer = async ({ store }: JudgeDeps, { run, action }: Ended): Promise<Action> =>
  run.judges === null || run.node.output_file !== undefined
    ? action
    : ((await actionOf(store, run.task, run.judges)) ?? action);

const mostOutputBytes = 16 * 1024 * 1024;

const outputOf = async (deps: JudgeDeps, ended: Ended): Promise<Json> => {
  const { output, output_artifact: artifact } = await producer(deps, ended);
  if (artifact === null) return output;
  const text = (await artifactText(deps.artifacts, artifact, mostOutputBytes)) ?? '';
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const evidenceOf = async (deps: JudgeDeps, ended: Ended) => {
  const { run, exit_code: exitCode } = await producer(deps, ended);
  const output = await outputOf(deps, ended);
  return { output, exitCode, ...(await printedBy(deps.store, ended.run.task, run)) };
};
