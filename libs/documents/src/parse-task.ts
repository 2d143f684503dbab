import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import type { Diagnostic, DiagnosticCode } from './diagnostics.ts';
import { normaliseTask } from './normalise-task.ts';
import { type TaskDocument, taskDocumentSchema } from './task-document.ts';
import { type DocumentRules, schemaDiagnostics } from './text/schema-diagnostics.ts';
import { readSource, type SourceText, type ValuePath } from './text/source-text.ts';

export interface ParsedTask {
  /** Null when a diagnostic is an error. */
  readonly spec: TaskSpec | null;
  /** The document as written, without defaults; null with errors. */
  readonly document: TaskDocument | null;
  /** Where everything stands; null when the text could not be read at all. */
  readonly source: SourceText | null;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads a `task/v1` document (YAML or JSON) and fills in every default. Says only what parsing can tell: `admitTask`
 * also runs the lint, and is what admission goes through.
 */
export const parseTask = (text: string): ParsedTask => {
  const { source, diagnostics } = readSource(text);
  return source === null ? { spec: null, document: null, source, diagnostics } : parseTaskSource(source);
};

/** Same for a document that has been read already, such as one of a batch. */
const parseTaskSource = (source: SourceText): ParsedTask => {
  const parsed = taskDocumentSchema.safeParse(source.value);
  if (!parsed.success) return failed(source, schemaDiagnostics(source, parsed.error, RULES));
  return { spec: normaliseTask(parsed.data), document: parsed.data, source, diagnostics: [] };
};

/** Without a good `kind` nothing else that is said about a document helps. */
const failed = (source: SourceText, found: readonly Diagnostic[]): ParsedTask => {
  const wrongKind = found.filter(({ code }) => code === 'FX010');
  return { spec: null, document: null, source, diagnostics: wrongKind.length > 0 ? wrongKind : found };
};

const LATER_RECIPES = ['http', 'agent'];

const laterKeys = (path: ValuePath): readonly string[] => {
  if (path.at(-1) === 'recipe') return LATER_RECIPES;
  if (path.at(-1) === 'postcondition' || path.at(-2) === 'all') return ['http'];
  return [];
};

const codeOf = (path: ValuePath, value: unknown): DiagnosticCode | null => {
  if (path.length === 0 || (path.length === 1 && path[0] === 'kind')) return 'FX010';
  const key = path.at(-1);
  if (key === 'kind' && value === 'agent') return 'FX190';
  return value === undefined ? null : (CODE_OF_KEY[String(key)] ?? null);
};

const CODE_OF_KEY: Record<string, DiagnosticCode> = {
  policy: 'FX103',
  timeout: 'FX014',
  project: 'FX015',
  id: 'FX015',
};

const RULES: DocumentRules = { schema: taskDocumentSchema, laterKeys, codeOf, namesAt: () => null };
