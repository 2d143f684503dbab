import { parseEvent, readEvent } from '@fixpoint/contracts/events/parse-event';
import type { SignedDecision } from '@fixpoint/contracts/human-decision';
import { gateStream } from '@fixpoint/contracts/streams';
import type { Verdict } from '@fixpoint/contracts/verdict';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { NodeReady } from './run-lookup.ts';
import type { ReadDecisions } from './signed-decisions.ts';

/** Recorded verdicts, and which of them a signed decision lifts. */
export interface Anew {
  readonly verdicts: readonly Verdict[];
  readonly lifted: readonly string[];
}

export interface AnewDeps {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly decisions: ReadDecisions;
}

type Phase = 'gate' | 'judge';

/**
 * The verdicts of an earlier run where they speak of this spec and this tree: nobody is asked again. Null: all are asked.
 * @param tree what would be looked at now.
 */
export const decidedAnew = async (
  { store, decisions }: AnewDeps,
  run: NodeReady,
  { phase, tree }: { readonly phase: Phase; readonly tree: string | null },
): Promise<Anew | null> => {
  if (run.verdicts_of === null) return null;
  const bound = (await decisions(run.decisions)).filter((decision) => isAbout(decision, run, { phase, tree }));
  if (bound.length === 0) return null;
  const verdicts = await recorded(store, run, phase);
  if (verdicts === null) return null;
  return { verdicts, lifted: verdicts.filter((verdict) => isLifted(verdict, bound)).map(({ validator }) => validator) };
};

/** The gate passed the run that a signed decision is about, and nothing has happened since but its judgement. */
export interface PassedBefore {
  readonly outcome: 'proceed' | 'proceed_with_log';
  readonly verdicts: readonly Verdict[];
}

/**
 * A judgement that is decided anew is no new work: where the decision speaks of this spec and this tree the gate has been
 * asked already. Null: it is asked.
 */
export const passedBefore = async ({ store, decisions }: AnewDeps, run: NodeReady): Promise<PassedBefore | null> => {
  if (run.verdicts_of === null || run.run_kind !== 'check') return null;
  const about = { phase: 'judge', tree: run.workspace_ref?.tree ?? null } as const;
  const bound = (await decisions(run.decisions)).some((decision) => isAbout(decision, run, about));
  if (!bound) return null;
  const events = await store.readStream(gateStream(run.task, run.verdicts_of));
  const passed = events.find(({ type }) => type === 'governance_passed');
  return passed === undefined ? null : readEvent(passed, 'governance_passed');
};

/** Who signed that a node is done which has no check; null when nobody did whom this validator believes. */
export const attestedBy = async (
  { decisions }: Pick<AnewDeps, 'decisions'>,
  { root, task, decisions: signatures }: NodeReady,
): Promise<string | null> => {
  const signed = await decisions(signatures);
  const word = signed.find((each) => each.root === root && each.task === task && each.what.kind === 'resolve');
  return word === undefined ? null : `${word.who} (decision ${word.decision_id})`;
};

const isAbout = (
  { root, what }: SignedDecision,
  run: NodeReady,
  { phase, tree }: { readonly phase: Phase; readonly tree: string | null },
): boolean =>
  (what.kind === 'approve' || what.kind === 'override') &&
  root === run.root &&
  what.task === run.task &&
  what.run === run.verdicts_of &&
  what.phase === phase &&
  what.spec_hash === run.spec_hash &&
  what.tree === tree;

/** Evidence that has changed is not what the human saw. */
const isLifted = (verdict: Verdict, bound: readonly SignedDecision[]): boolean =>
  !verdict.error && bound.some(({ what }) => lifts(what, verdict));

const lifts = (what: SignedDecision['what'], { validator, severity, evidence_hash, overridable }: Verdict): boolean => {
  if (what.kind !== 'approve' && what.kind !== 'override') return false;
  const fits = what.kind === 'approve' ? severity === 'warning' : severity === 'blocker' && overridable;
  return fits && what.lifts.some((lift) => lift.validator === validator && lift.evidence_hash === evidence_hash);
};

const recorded = async (
  store: AnewDeps['store'],
  { task, verdicts_of: run }: NodeReady,
  phase: Phase,
): Promise<readonly Verdict[] | null> => {
  const events = await store.readStream(gateStream(task, run ?? 0));
  const types = phase === 'judge' ? ['post_validated'] : ['governance_blocked', 'governance_escalated'];
  const said = events.find(({ type }) => types.includes(type));
  const fact = said && parseEvent(said);
  return fact !== undefined && 'verdicts' in fact.data ? fact.data.verdicts : null;
};
