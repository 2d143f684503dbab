import { contentHash } from '@fixpoint/contracts/content-hash';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import type { Escalation } from '@fixpoint/contracts/events/escalation-events';
import type { Escalate } from '@fixpoint/contracts/rest/escalations';
import type { BatchResult } from '@fixpoint/contracts/rest/tasks';
import { lineageStream } from '@fixpoint/contracts/streams';
import { ProtocolWithdrawn } from '@fixpoint/documents/protocol-catalog';
import { taskSpecHash } from '@fixpoint/documents/spec-hash';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { type Admission, admit } from './admission.ts';
import { escalateChild } from './escalate-child.ts';
import { type Admitted, decisionOf, type Preparing, refusal, result, type SubmitDeps } from './submit.ts';

const ESCALATE = 'orchestrator__escalate';

export interface EscalateDeps extends SubmitDeps {
  readonly artifacts: Pick<Artifacts, 'put'>;
}

export interface Sender {
  /** Becomes the actor of what follows. */
  readonly actor: string;
  /** Where alone the work may belong; left out: wherever it says. */
  readonly project?: string | undefined;
}

/**
 * Takes over work that a producer could not finish, as a unit that begins stalled: a child of the lineage that it came from
 * while that goes on and has room for it, else a lineage of its own. The same key and body name the same one, however often
 * they come.
 * @throws the store's fault: nothing is known of what was stored; the same key asks again safely.
 */
export const escalate = async (
  deps: EscalateDeps,
  asked: Escalate,
  { actor, project }: Sender,
): Promise<BatchResult> => {
  const { catalog } = deps;
  const preparing = { ...deps, actor, currentOf: (name: string) => catalog.current(name) };
  try {
    const admission = await admitted(preparing, asked);
    if (!admission.admitted) return refused(admission);
    if (project !== undefined && admission.spec.project !== project) return refused(elsewhere);
    const escalation = { ...asked, diff: await keptDiff(deps, asked.diff) };
    const prepared = await prepare(preparing, escalation, admission);
    const child = await asChild(deps, escalation, prepared);
    if (child !== null) return child;
    const [outcome] = await deps.lineages.decide(ESCALATE, [prepared.decision]);
    return await result(deps, prepared, outcome);
  } catch (error) {
    if (!(error instanceof ProtocolWithdrawn)) throw error;
    return refusal(409, 'protocol_withdrawn', { detail: error.message, diagnostics: [] });
  }
};

const HASH = /^[0-9a-f]{64}$/;

const keptDiff = async ({ artifacts }: EscalateDeps, diff: string | null): Promise<string | null> =>
  diff === null || HASH.test(diff) ? diff : (await artifacts.put(Buffer.from(diff))).hash;

/** Null where it is to be a lineage of its own, or has become one before. */
const asChild = async (
  deps: SubmitDeps,
  { caused_by: root, idempotency_key: given }: Escalate,
  { decision, specHash, diagnostics }: Admitted,
): Promise<BatchResult | null> => {
  const { command, cause } = decision;
  if (root === null || command.type !== 'submit_task' || command.origin === undefined) return null;
  if (given && (await deps.store.readStream(lineageStream(decision.root), 1, 1)).length > 0) return null;
  const { spec, origin, aboutMachinery = false } = command;
  // Without a key, and under one, the lineage that it would have become names it.
  const escalated = { type: 'escalate_child', key: decision.root, spec, specHash, origin, aboutMachinery } as const;
  return escalateChild(deps, { root, command: escalated, cause, diagnostics });
};

const admitted = async ({ currentOf, lineages: { models } }: Preparing, escalation: Escalate): Promise<Admission> => {
  const modesOf = async (project: string) => Object.keys((await currentOf(project)).spec.modes);
  if (escalation.task !== undefined) return admit(escalation.task, { models, modesOf });
  if (escalation.project === undefined) return { admitted: false, code: 'project_missing', diagnostics: [] };
  if (!(await modesOf(escalation.project)).includes(escalation.mode)) {
    return { admitted: false, code: 'mode_unknown', diagnostics: [] };
  }
  return { admitted: true, spec: container(escalation, escalation.project), diagnostics: [] };
};

/** Nobody said how it is done: only its children can do it. */
const container = ({ what, stage, mode, workspace }: Escalate, project: string): TaskSpec => ({
  ...{ name: stage, project, mode, labels: {}, goal: what, priority: 0, nodes: [] },
  workspace: workspace ?? { git: null, keep: [] },
});

const elsewhere = { admitted: false, code: 'project_mismatch', diagnostics: [] } as const;

const REFUSED: Readonly<Record<string, string>> = {
  project_mismatch: 'it came on the subject of another project',
  project_missing: 'without a task the escalation must name a project',
  mode_unknown: 'the protocol of the project has no such mode',
};

const refused = ({ code, diagnostics }: Extract<Admission, { admitted: false }>): BatchResult => {
  const detail = diagnostics[0]?.message ?? REFUSED[code] ?? 'the task can not be stored as it is';
  return refusal(400, code, { detail, diagnostics: [...diagnostics] });
};

const prepare = async (
  deps: Preparing,
  escalation: Escalate,
  { spec, diagnostics }: Extract<Admission, { admitted: true }>,
): Promise<Admitted> => {
  const { what, stage, diagnosis, findings, diff, caused_by, about, idempotency_key: key = null } = escalation;
  const origin: Escalation = { what, stage, diagnosis, findings, diff, caused_by };
  const { ref } = await deps.currentOf(spec.project);
  // Under one key, another escalation of the same task is another body.
  const specHash = contentHash({ spec_hash: taskSpecHash(spec), origin, about });
  const submission = { spec, specHash, ref, key, origin, aboutMachinery: about === 'machinery' };
  return { specHash, diagnostics, decision: await decisionOf(deps, submission) };
};
