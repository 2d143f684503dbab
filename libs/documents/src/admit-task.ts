import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import { type Diagnostic, hasErrors } from './diagnostics.ts';
import { type LintOptions, lintTask } from './lint-task.ts';
import { type ParsedTask, parseTask } from './parse-task.ts';

/** Whether a document may become a task. Warnings are told and stop nothing. */
export type Admission =
  | { readonly admitted: true; readonly spec: TaskSpec; readonly diagnostics: readonly Diagnostic[] }
  | { readonly admitted: false; readonly diagnostics: readonly Diagnostic[] };

/** Parses and lints a task document. */
export const admitTask = (text: string, options: LintOptions): Admission => admitParsed(parseTask(text), options);

/** Lints a document that has been parsed. */
export const admitParsed = ({ spec, document, source, diagnostics }: ParsedTask, options: LintOptions): Admission => {
  if (spec === null || document === null || source === null) return { admitted: false, diagnostics };
  const all = [...diagnostics, ...lintTask({ spec, document, source }, options)];
  return hasErrors(all) ? { admitted: false, diagnostics: all } : { admitted: true, spec, diagnostics: all };
};
