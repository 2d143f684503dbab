import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import type { BatchResult, SubmitTask } from '@fixpoint/contracts/rest/tasks';
import type { RunTokenClaims } from '@fixpoint/contracts/run-token';
import { lineageStream } from '@fixpoint/contracts/streams';
import { fold } from '@fixpoint/decider/decider';
import { taskSpecHash } from '@fixpoint/documents/spec-hash';
import type { DecisionOutcome } from '@fixpoint/event-store/run-decision';
import { publicationsOf } from '@fixpoint/messaging/publisher';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { lineage } from '../domain/lineage/decide.ts';
import { submittedBy } from '../domain/lineage/epics/submit-child.ts';
import { type Admission, admit } from './admission.ts';
import { notAdmitted, refusal, type SubmitDeps } from './submit.ts';

const SUBMIT_CHILD = 'orchestrator__submit_child';

/** A run that asks, with its token. */
export type RunAsking = Principal & { readonly run: RunTokenClaims };

type Admitted = Extract<Admission, { admitted: true }>;

/** What a run hands in, and under which key its node finds it again. */
interface Handed {
  readonly key: string;
  readonly spec: TaskSpec;
  readonly specHash: string;
  readonly diagnostics: Admitted['diagnostics'];
}

/**
 * Takes work that a run hands in as a child of its unit, as long as the run is in flight, and answers at once. Every run of
 * a node finds the same child under the same key; without a key the document is its own.
 */
export const submitChild = async (
  deps: SubmitDeps,
  { document, idempotency_key: given }: SubmitTask,
  asker: RunAsking,
): Promise<BatchResult> => {
  const admission = await admit(document, {
    models: deps.lineages.models,
    modesOf: (project) => modesOf(deps, project),
  });
  if (!admission.admitted) return notAdmitted(admission);
  const { spec, diagnostics } = admission;
  const specHash = taskSpecHash(spec);
  const key = given === null || given === undefined ? `document:${specHash}` : `key:${given}`;
  return handedIn(deps, { key, spec, specHash, diagnostics }, asker);
};

const modesOf = async ({ catalog }: SubmitDeps, project: string): Promise<readonly string[]> =>
  Object.keys((await catalog.current(project)).spec.modes);

const handedIn = async (deps: SubmitDeps, handed: Handed, { name: actor, run: claims }: RunAsking) => {
  const { root, task, run } = claims;
  const { key, spec, specHash } = handed;
  const decision = await deps.lineages.commandFor({
    root,
    command: { type: 'submit_child', task, run, key, spec, specHash },
    cause: { id: `submit_child:${claims.jti}:${key}`, time: deps.clock.now().toISOString(), actor },
    nodeReady: null,
  });
  const [outcome] = await deps.lineages.decide(SUBMIT_CHILD, [decision]);
  return answerTo(deps, handed, { claims, outcome });
};

interface Decided {
  readonly claims: RunTokenClaims;
  readonly outcome: DecisionOutcome | undefined;
}

const answerTo = async (deps: SubmitDeps, handed: Handed, { claims, outcome }: Decided): Promise<BatchResult> => {
  if (outcome?.outcome === 'refused') {
    const { code, detail } = outcome.refused;
    return refusal(STATUS[code] ?? 409, code, { detail: DETAILS[code] ?? detail, diagnostics: [] });
  }
  if (outcome?.outcome !== 'decided') throw outcome?.error ?? new Error('a submission was not decided');
  const created = outcome.events.length > 0;
  deps.publisher.publish(publicationsOf(outcome.events, null));
  const events = created ? outcome.events : await deps.store.readStream(lineageStream(claims.root));
  const child = created ? childIn(events) : childFound(events, claims, handed.key);
  const last = events.at(-1);
  if (child === null || last === undefined) throw new Error(`a child of ${claims.task} exists and can not be found`);
  return {
    ...{ outcome: 'accepted', http_status: created ? 202 : 200, lineage: claims.root, task: child, created },
    ...{ spec_hash: handed.specHash, cursor: cursorToken(last.cursor), diagnostics: [...handed.diagnostics] },
  };
};

const childIn = (events: readonly RecordedEvent[]): string | null => {
  const parsed = events.map((event) => parseEvent(event));
  return parsed.find((event) => event.type === 'child_submitted')?.data.child.task ?? null;
};

const childFound = (events: readonly RecordedEvent[], { task }: RunTokenClaims, key: string): string | null => {
  const state = fold(
    lineage,
    lineage.initial,
    events.map((event) => parseEvent(event) as LineageEvent),
  );
  const asking = state.status === 'unknown' ? undefined : state.tasks[task];
  return state.status === 'unknown' || asking === undefined ? null : (submittedBy(state, asking, key)?.id ?? null);
};

/** The document is at fault; everything else is how the lineage stands. */
const STATUS: Readonly<Record<string, number>> = {
  document_too_large: 400,
  scope_of_lineage: 422,
  workspace_of_lineage: 422,
};

const DETAILS: Readonly<Record<string, string>> = {
  run_not_in_flight: 'the run that this token belongs to has ended',
  idempotency_key_reused: 'this idempotency key was used for another document',
  scope_of_lineage: 'what a run submits has the project and the mode of its lineage',
  workspace_of_lineage: 'what a run submits starts from the workspace of the run, and names no other',
};
