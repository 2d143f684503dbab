import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { actionStream, gateStream } from '@fixpoint/contracts/streams';
import { type Finding, verdictSchema } from '@fixpoint/contracts/verdict';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Workspaces } from '@fixpoint/execution/workspaces';
import type { CouncilDocument, CouncilQuestion, CouncilRequest } from '@fixpoint/models/council-model';
import { artifactText } from '@fixpoint/validation/artifact-text';
import { z } from 'zod';

export interface EvidenceDeps {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly artifacts: Pick<Artifacts, 'get'>;
  readonly workspaces: Workspaces;
  /** Private folder of this service for copies; anything in it may be deleted when nothing runs. */
  readonly copiesFolder: string;
  /** What the workspace in a folder says about these files. */
  readonly findDocuments: (folder: string, touched: readonly string[]) => Promise<readonly CouncilDocument[]>;
}

const PATCH_BYTES = 256 * 1024;

/** What only the streams of the stalled run and its workspace know. */
export type Evidence = Pick<CouncilQuestion, 'changed' | 'patch' | 'findings' | 'detail' | 'documents'>;

/** @throws {WorkspaceFault} when the workspace can not be looked at. */
export const gatherEvidence = async (deps: EvidenceDeps, request: CouncilRequest): Promise<Evidence> => {
  const { changed, patch } = await diffSoFar(deps, request);
  const { findings, detail } = await whatFailed(deps, request);
  const named = findings.flatMap(({ path }) => path ?? []);
  const documents = await documentsFor(deps, request.workspace_ref, [...new Set([...changed, ...named])]);
  return { changed, patch, findings, detail, documents };
};

const diffSoFar = async (
  { workspaces, artifacts }: EvidenceDeps,
  { base_ref: base, workspace_ref: ref }: CouncilRequest,
): Promise<Pick<Evidence, 'changed' | 'patch'>> => {
  if (ref === null || (base === null && ref.commit === ref.base)) return { changed: [], patch: null };
  // Git compares commits as it does trees, and the tree of the base is not known here.
  const start = base ?? { ...ref, head: ref.base, commit: ref.base, tree: ref.base, bundle: null };
  const diff = await workspaces.diff(start, ref);
  const patch = diff.patch === null ? null : await artifactText(artifacts, diff.patch.hash, PATCH_BYTES);
  return { changed: diff.files.map(({ path }) => path), patch };
};

const judgedSchema = z.object({ verdicts: z.array(verdictSchema) });
const endedSchema = z.object({ detail: z.string() });

const whatFailed = async (
  { store }: EvidenceDeps,
  { task, stalled_run: run }: CouncilRequest,
): Promise<{ readonly findings: readonly Finding[]; readonly detail: string }> => {
  if (run === null) return { findings: [], detail: '' };
  const gate = await store.readStream(gateStream(task, run));
  const action = await store.readStream(actionStream(task, run));
  const judged = judgedSchema.safeParse(gate.find(({ type }) => type === 'post_validated')?.data);
  const ended = endedSchema.safeParse(action.find(({ type }) => type === 'node_verified_action')?.data);
  return {
    findings: judged.success ? judged.data.verdicts.flatMap(({ findings }) => findings) : [],
    detail: ended.success ? ended.data.detail : '',
  };
};

/** Looked for in a copy that nobody is to write in, and only when there is something to look for. */
const documentsFor = async (
  { workspaces, copiesFolder, findDocuments }: EvidenceDeps,
  ref: WorkspaceRef | null,
  touched: readonly string[],
): Promise<readonly CouncilDocument[]> => {
  if (ref === null || touched.length === 0) return [];
  const folder = join(copiesFolder, randomUUID());
  try {
    await workspaces.materialise(ref, folder, 'read_only');
    return await findDocuments(folder, touched);
  } finally {
    await workspaces.remove(folder);
  }
};
