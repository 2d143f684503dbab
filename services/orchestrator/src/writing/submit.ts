import type { Clock, Ids } from '@fixpoint/contracts/clock';
import { sha256 } from '@fixpoint/contracts/content-hash';
import type { ProtocolRef } from '@fixpoint/contracts/documents/protocol';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Escalation } from '@fixpoint/contracts/events/escalation-events';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import type { BatchResult, SubmitTask } from '@fixpoint/contracts/rest/tasks';
import { lineageStream } from '@fixpoint/contracts/streams';
import { type ProtocolCatalog, ProtocolWithdrawn } from '@fixpoint/documents/protocol-catalog';
import { taskSpecHash } from '@fixpoint/documents/spec-hash';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { AppendRejected, type DecisionOutcome } from '@fixpoint/event-store/run-decision';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import { conditionAsker } from '@fixpoint/validation/condition';
import type { LineageDecision, Lineages } from '../lineages.ts';
import { type Admission, admit } from './admission.ts';

const SUBMIT = 'orchestrator__submit';

export interface SubmitDeps {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly lineages: Lineages;
  readonly catalog: ProtocolCatalog;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface Admitted {
  readonly decision: LineageDecision;
  readonly specHash: string;
  readonly diagnostics: Extract<Admission, { admitted: true }>['diagnostics'];
}
type Prepared = Admitted | { readonly refused: BatchResult };

/**
 * Admits tasks, each for itself: the same key and document name the same lineage, however often they come.
 * @param actor name of the API key.
 * @returns one result per task, in order, with the status that the task alone would have got.
 * @throws the store's fault: nothing is known of what was stored; the same keys ask again safely.
 */
export const submitTasks = async (
  deps: SubmitDeps,
  tasks: readonly SubmitTask[],
  actor: string,
): Promise<readonly BatchResult[]> => {
  const currentOf = currentProtocols(deps.catalog);
  const prepared = await Promise.all(tasks.map((task) => prepare({ ...deps, currentOf, actor }, task)));
  const admitted = prepared.filter((each) => 'decision' in each);
  const outcomes = await deps.lineages.decide(
    SUBMIT,
    admitted.map(({ decision }) => decision),
  );
  const outcomeOf = new Map(admitted.map((each, index) => [each, outcomes[index]]));
  return Promise.all(
    prepared.map((each) => ('refused' in each ? each.refused : result(deps, each, outcomeOf.get(each)))),
  );
};

type Current = Awaited<ReturnType<ProtocolCatalog['current']>>;

/** One look at each project's protocol per request. */
const currentProtocols = (catalog: ProtocolCatalog): ((project: string) => Promise<Current>) => {
  const asked = new Map<string, Promise<Current>>();
  return (project) => {
    const known = asked.get(project) ?? catalog.current(project);
    asked.set(project, known);
    return known;
  };
};

export interface Preparing extends SubmitDeps {
  readonly currentOf: (project: string) => Promise<Current>;
  readonly actor: string;
}

const prepare = async (deps: Preparing, task: SubmitTask): Promise<Prepared> => {
  try {
    return await prepared(deps, task);
  } catch (error) {
    if (!(error instanceof ProtocolWithdrawn)) throw error;
    return { refused: refusal(409, 'protocol_withdrawn', { detail: error.message, diagnostics: [] }) };
  }
};

const prepared = async (deps: Preparing, task: SubmitTask): Promise<Prepared> => {
  const modesOf = async (project: string) => Object.keys((await deps.currentOf(project)).spec.modes);
  const admission = await admit(task.document, { models: deps.lineages.models, modesOf });
  if (!admission.admitted) return { refused: notAdmitted(admission) };
  const { spec, diagnostics } = admission;
  const { ref } = await deps.currentOf(spec.project);
  const specHash = taskSpecHash(spec);
  return {
    specHash,
    diagnostics,
    decision: await decisionOf(deps, { spec, specHash, ref, key: task.idempotency_key ?? null }),
  };
};

export const notAdmitted = ({ code, diagnostics }: Extract<Admission, { admitted: false }>): BatchResult => {
  const detail = diagnostics[0]?.message ?? 'the document can not be stored as it is';
  return refusal(400, code, { detail, diagnostics: [...diagnostics] });
};

export interface Submission {
  readonly spec: TaskSpec;
  readonly specHash: string;
  readonly ref: ProtocolRef;
  readonly key: string | null;
  readonly origin?: Escalation;
  readonly aboutMachinery?: boolean;
}

export const decisionOf = async (deps: Preparing, submission: Submission): Promise<LineageDecision> => {
  const { actor, catalog, ids } = deps;
  const { spec, specHash, ref, key, origin, aboutMachinery = false } = submission;
  const route = origin === undefined ? 'POST /v1/tasks' : 'POST /v1/escalations';
  const root = key === null ? ids.uuid() : keyedRoot([route, actor, spec.project, key]);
  const mode = await catalog.modeOf({ project: spec.project, mode: spec.mode }, ref);
  const now = deps.clock.now().toISOString();
  return {
    root,
    command: {
      type: 'submit_task',
      root,
      spec,
      specHash,
      protocol: ref,
      idempotencyKey: key,
      ...(origin && { origin: { kind: 'escalation', ...origin }, aboutMachinery }),
      now,
      mode,
      askCondition: conditionAsker(),
      agentModels: deps.lineages.models.agents,
    },
    cause: { id: `submit:${root}`, time: now, actor, correlation_id: root },
  };
};

/** The stream at version 0 is the uniqueness check, so the key makes the id: a uuid of version 8 (RFC 9562). */
const keyedRoot = (named: readonly [route: string, actor: string, project: string, key: string]): string => {
  const hex = sha256(JSON.stringify(named));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

export const refusal = (
  http_status: number,
  code: string,
  rest: Pick<Extract<BatchResult, { outcome: 'refused' }>, 'detail' | 'diagnostics'>,
): BatchResult => ({ outcome: 'refused', http_status, code, ...rest });

export const result = async (
  deps: SubmitDeps,
  admitted: Admitted,
  outcome: DecisionOutcome | undefined,
): Promise<BatchResult> => {
  if (outcome?.outcome === 'decided') return accepted(deps, admitted, outcome.events);
  if (outcome?.outcome === 'refused') {
    const detail = 'this idempotency key was used for another document';
    return refusal(409, outcome.refused.code, { detail, diagnostics: [] });
  }
  const error = outcome?.error;
  if (error instanceof AppendRejected && (error.code === 'event_too_large' || error.code === 'not_storable')) {
    return refusal(400, error.code, { detail: error.message, diagnostics: [] });
  }
  throw error ?? new Error('a submission was not decided');
};

const accepted = async (
  { store, publisher }: SubmitDeps,
  { decision, specHash, diagnostics }: Admitted,
  events: readonly RecordedEvent[],
): Promise<BatchResult> => {
  publisher.publish(publicationsOf(events, null));
  const created = events.length > 0;
  const [first] = created ? events : await store.readStream(lineageStream(decision.root));
  const last = events.at(-1) ?? first;
  if (!last) throw new Error(`lineage ${decision.root} exists and can not be read`);
  return {
    outcome: 'accepted',
    http_status: created ? 202 : 200,
    lineage: decision.root,
    spec_hash: specHash,
    created,
    cursor: cursorToken(last.cursor),
    diagnostics: [...diagnostics],
  };
};
