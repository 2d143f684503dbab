import { canonicalJson, NotCanonical } from '@fixpoint/contracts/canonical-json';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import type { Diagnostic } from '@fixpoint/contracts/rest/errors';
import type { DocumentInput } from '@fixpoint/contracts/rest/tasks';
import { admitParsed } from '@fixpoint/documents/admit-task';
import type { Diagnostic as Found } from '@fixpoint/documents/diagnostics';
import { parseTask } from '@fixpoint/documents/parse-task';
import { knownPrimitives } from '@fixpoint/execution/primitives/primitives';
import type { ModelNames } from '../model-names.ts';

/** Events are at most 64 KiB, and a run's carries the goal twice beside its node and where it starts. */
const MAX_SPEC_BYTES = 48 * 1024;
const MAX_GOAL_BYTES = 16 * 1024;

export type Admission =
  | { readonly admitted: true; readonly spec: TaskSpec; readonly diagnostics: readonly Diagnostic[] }
  | { readonly admitted: false; readonly code: string; readonly diagnostics: readonly Diagnostic[] };

/** As the API tells it: a document's complaints name places in the text, not paths. */
export const told = (found: readonly Found[]): Diagnostic[] => found.map((each) => ({ path: '', ...each }));

export const textOf = (document: DocumentInput): string =>
  typeof document === 'string' ? document : JSON.stringify(document);

/** What an installation lets a document name. */
export interface Known {
  readonly models: ModelNames;
  /** Names of the modes that a project's tasks may run under. */
  readonly modesOf: (project: string) => Promise<readonly string[]>;
}

/** Whether a document may become a task here. */
export const admit = async (document: DocumentInput, { models, modesOf }: Known): Promise<Admission> => {
  const parsed = parseTask(textOf(document));
  const knownModes = parsed.spec === null ? null : await modesOf(parsed.spec.project);
  const options = {
    knownPrimitives,
    ...{ knownModels: models.known, knownAgents: models.agents },
    knownModes,
    relativeGitUrl: 'refused',
  } as const;
  const admission = admitParsed(parsed, options);
  const diagnostics = told(admission.diagnostics);
  if (!admission.admitted) return { admitted: false, code: 'document_invalid', diagnostics };
  const code = unstorable(admission.spec);
  return code === null ? { ...admission, diagnostics } : { admitted: false, code, diagnostics: [] };
};

const unstorable = (spec: TaskSpec): string | null => {
  try {
    const tooLarge = bytes(spec) > MAX_SPEC_BYTES || bytes(spec.goal) > MAX_GOAL_BYTES;
    return tooLarge || spec.nodes.some(({ goal }) => bytes(goal) > MAX_GOAL_BYTES) ? 'document_too_large' : null;
  } catch (error) {
    if (error instanceof NotCanonical) return error.code;
    throw error;
  }
};

const bytes = (value: unknown): number => Buffer.byteLength(canonicalJson(value));
