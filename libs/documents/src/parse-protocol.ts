import { type ProtocolSpec, validatorCheckSchema } from '@fixpoint/contracts/documents/protocol';
import { type Diagnostic, type DiagnosticCode, diagnostic, hasErrors } from './diagnostics.ts';
import { under } from './lint/finding.ts';
import { lintMode, type ModeLintOptions } from './lint/lint-mode.ts';
import { normaliseProtocol } from './normalise-protocol.ts';
import { type ProtocolDocument, protocolDocumentSchema } from './protocol-document.ts';
import { type DocumentRules, schemaDiagnostics } from './text/schema-diagnostics.ts';
import { readSource, type SourceText, type ValuePath } from './text/source-text.ts';

export interface ParsedProtocol {
  /** Null when a diagnostic is an error: such a protocol is not published. */
  readonly spec: ProtocolSpec | null;
  readonly document: ProtocolDocument | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads and lints a `protocol/v1` document (YAML or JSON) and fills in every default. */
export const parseProtocol = (text: string, options: ModeLintOptions): ParsedProtocol => {
  const { source, diagnostics } = readSource(text);
  if (source === null) return { spec: null, document: null, diagnostics };
  const parsed = protocolDocumentSchema.safeParse(source.value);
  if (!parsed.success) return failed(schemaDiagnostics(source, parsed.error, RULES));
  const spec = normaliseProtocol(parsed.data);
  const found = lintProtocol(spec, source, options);
  return { spec: hasErrors(found) ? null : spec, document: parsed.data, diagnostics: found };
};

const failed = (found: readonly Diagnostic[]): ParsedProtocol => {
  const wrongKind = found.filter(({ code }) => code === 'FX010');
  return { spec: null, document: null, diagnostics: wrongKind.length > 0 ? wrongKind : found };
};

const lintProtocol = (spec: ProtocolSpec, source: SourceText, options: ModeLintOptions): Diagnostic[] =>
  Object.entries(spec.modes)
    .flatMap(([id, mode]) => under(['modes', id], lintMode(mode, options)))
    .map(({ code, path, ...text }) => diagnostic(code, source.locate(path), text))
    .sort((a, b) => a.line - b.line || a.column - b.column);

const laterKeys = (path: ValuePath): readonly string[] => {
  if (path.length === 2) return ['sandbox', 'budgets', 'providers'];
  return path.at(-1) === 'check' || path.at(-1) === 'fix' ? ['http', 'worker', 'agent', 'model', 'external'] : [];
};

const CODE_OF_KEY: Record<string, DiagnosticCode> = {
  timeout: 'FX014',
  deadline: 'FX014',
  handoff_expiry: 'FX014',
  council_timeout: 'FX014',
  hop_slack: 'FX014',
  fix_timeout: 'FX014',
  name: 'FX015',
  project: 'FX015',
  id: 'FX015',
};

const codeOf = (path: ValuePath, value: unknown): DiagnosticCode | null => {
  if (path.length === 0 || (path.length === 1 && path[0] === 'kind')) return 'FX010';
  if (value === undefined) return null;
  if (path.at(-3) === 'backoffs') return 'FX014';
  return CODE_OF_KEY[String(path.at(-1))] ?? null;
};

/** What a validator asks is named by the one key of its check. */
const CHECKS = validatorCheckSchema.options.flatMap(({ shape }) => Object.keys(shape));

const namesAt: DocumentRules['namesAt'] = (path) =>
  path.at(-1) === 'check' && (path.at(-3) === 'pre' || path.at(-3) === 'post')
    ? { code: 'FX207', names: CHECKS }
    : null;

const RULES: DocumentRules = { schema: protocolDocumentSchema, laterKeys, codeOf, namesAt };
