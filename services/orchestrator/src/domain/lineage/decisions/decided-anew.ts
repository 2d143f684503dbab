import type { DecisionOf, Lift } from '@fixpoint/contracts/human-decision';
import { Refused } from '@fixpoint/decider/refused';
import { resumeUnit } from '../enter-node.ts';
import { isFree } from '../epics/landing.ts';
import { judgedIn } from '../faults.ts';
import type { Turn } from '../lookup.ts';
import { start } from '../start-run.ts';
import type { Facts, Handoff, Task } from '../state.ts';
import { epicOfChild } from '../tree.ts';

type Lifting = DecisionOf<'approve'> | DecisionOf<'override'>;

const LIFTS: Readonly<Record<Lifting['kind'], 'warning' | 'blocker'>> = { approve: 'warning', override: 'blocker' };

/**
 * A decision lifts what the handoff shows and nothing else; never an error, never a blocker that is not overridable.
 * @throws {Refused}
 */
export const checkBinding = ({ judged, verdicts }: Handoff, decision: Lifting): void => {
  const { run, phase, spec_hash, tree } = decision;
  const about = judged && [judged.run, judged.phase, judged.spec_hash, judged.workspace_ref?.tree ?? null];
  if (about === null || about.join() !== [run, phase, spec_hash, tree].join()) {
    throw new Refused('decision_not_bound', 'it speaks of another judgement than the handoff');
  }
  for (const lift of decision.lifts) checkLift(verdicts, decision.kind, lift);
};

const checkLift = (verdicts: Handoff['verdicts'], kind: Lifting['kind'], { validator, evidence_hash }: Lift): void => {
  const verdict = verdicts.find((each) => each.validator === validator && each.evidence_hash === evidence_hash);
  if (verdict === undefined) throw new Refused('verdict_unknown', validator);
  const { severity, error, overridable } = verdict;
  const isLiftable = severity === LIFTS[kind] && !error && (kind === 'approve' || overridable);
  if (!isLiftable) throw new Refused('verdict_not_liftable', `${kind} ${validator}`);
};

/** A run on what was looked at: the recorded verdicts are decided anew, and nothing is done twice. */
export const decideAnew = (
  turn: Turn,
  unitTask: Task,
  { handoff: { judged }, signature }: { readonly handoff: Handoff; readonly signature: string },
): Facts => {
  if (judged === null) throw new Refused('decision_not_bound', 'there is no judgement');
  const { phase, run, run_kind, judges, workspace_ref: ref } = judged;
  if (run_kind === 'integrate' && !isStillTheNext(turn, unitTask, ref)) return resumeUnit(turn, unitTask);
  const kind = run_kind as 'normal' | 'check';
  const plan =
    phase === 'gate' ? { kind, judges } : { kind: 'check' as const, judges: judgedIn(unitTask, { run, kind, judges }) };
  const basis = { verdictsOf: run, decisions: [signature], source: null };
  return start(turn, unitTask, { ...plan, purpose: 'decided', ref, nodeIndex: unitTask.nodeIndex, basis });
};

/** What was looked at is a merge into what the epic holds now, and nobody else's merge is under way: else it is made anew. */
const isStillTheNext = ({ state }: Turn, child: Task, ref: Task['accepted']): boolean => {
  const epic = epicOfChild(state, child);
  return epic !== null && isFree(state, epic) && epic.ref?.tree === ref?.tree;
};
