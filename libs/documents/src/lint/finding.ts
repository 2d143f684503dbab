import type { DiagnosticCode } from '../diagnostics.ts';
import type { ValuePath } from '../text/source-text.ts';

/** What a rule objects to, before it has a line. Without a path of its own it stands at what was looked at. */
export interface Finding {
  readonly code: DiagnosticCode;
  /** Below the value that was looked at. */
  readonly path: ValuePath;
  readonly message?: string;
  readonly hint?: string;
}

export const found = (
  code: DiagnosticCode,
  path: ValuePath,
  text: { message?: string; hint?: string } = {},
): Finding => ({
  code,
  path,
  ...text,
});

/** The findings of a part, seen from the whole. */
export const under = (path: ValuePath, findings: readonly Finding[]): Finding[] =>
  findings.map((finding) => ({ ...finding, path: [...path, ...finding.path] }));
