import { pathToFileURL } from 'node:url';
import { type Diagnostic, type DiagnosticCode, diagnosticCatalogue } from './diagnostics.ts';

/** What became of one document. */
export interface SarifInput {
  /** Path as given, relative or absolute; `-` is standard input. */
  readonly file: string;
  readonly diagnostics: readonly Diagnostic[];
  /** Why the file could not be read; null when it was. */
  readonly unreadable: string | null;
  /** What else is known of the document, under names of ours. */
  readonly properties: Readonly<Record<string, unknown>>;
}

/**
 * Diagnostics as a SARIF 2.1.0 log with one run, for code scanning services and editors. Every file is an artifact, also
 * one with nothing wrong; one that is named twice is one; one that could not be read is a notification and makes the
 * run an unsuccessful one. Columns count UTF-16 code units from 1.
 * Source: OASIS Static Analysis Results Interchange Format 2.1.0, §3.
 */
export const sarifLog = (given: readonly SarifInput[], { version }: { readonly version: string }) => {
  const files = [...new Map(given.map((each) => [each.file, each])).values()];
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'fixpoint', version, rules: CODES.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: files.every(({ unreadable }) => unreadable === null),
            toolExecutionNotifications: files.flatMap(notificationOf),
          },
        ],
        artifacts: files.map(({ file, properties }) => ({ location: { uri: uriOf(file) }, properties })),
        results: files.flatMap(({ file, diagnostics }, index) =>
          diagnostics.map((found) => resultOf(found, { uri: uriOf(file), index })),
        ),
      },
    ],
  };
};

const CODES = Object.keys(diagnosticCatalogue).filter((code): code is DiagnosticCode => code in diagnosticCatalogue);

const ruleOf = (id: DiagnosticCode) => {
  const { severity, meaning, hint } = diagnosticCatalogue[id];
  return { id, shortDescription: { text: meaning }, help: { text: hint }, defaultConfiguration: { level: severity } };
};

interface ArtifactLocation {
  readonly uri: string;
  readonly index: number;
}

const resultOf = ({ code, severity, message, hint, line, column }: Diagnostic, artifactLocation: ArtifactLocation) => ({
  ruleId: code,
  ruleIndex: CODES.indexOf(code),
  level: severity,
  message: { text: `${message}\n${hint}` },
  locations: [{ physicalLocation: { artifactLocation, region: { startLine: line, startColumn: column } } }],
});

const notificationOf = ({ file, unreadable }: SarifInput, index: number) =>
  unreadable === null
    ? []
    : [
        {
          level: 'error',
          message: { text: unreadable },
          locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file), index } } }],
        },
      ];

/** A URI reference (RFC 3986): paths keep their slashes, everything else that has a meaning in one is escaped. */
const uriOf = (file: string): string => {
  if (file === '-') return 'stdin';
  if (file.startsWith('/')) return pathToFileURL(file).href;
  return file.toWellFormed().split('/').map(encodeURIComponent).join('/');
};
