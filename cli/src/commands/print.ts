import { type Diagnostic, hasErrors } from '@fixpoint/documents/diagnostics';
import { parseProtocol } from '@fixpoint/documents/parse-protocol';
import { parseTask } from '@fixpoint/documents/parse-task';
import { printProtocol, printTask } from '@fixpoint/documents/print-task';
import { knownPrimitives } from '@fixpoint/execution/primitives/primitives';
import { deniedBy } from '@fixpoint/validation/command-rules';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { diagnosticText } from '../failure.ts';
import { kindOf } from '../lint-document.ts';
import { readDocument } from '../read-document.ts';

interface PrintOptions {
  readonly json?: boolean;
  readonly schema?: string;
}

/** `fixpoint print FILE` */
export const addPrint = (program: Command, context: Context): void => {
  program
    .command('print')
    .description('print a task or protocol document in its one canonical form')
    .argument('<file>', 'a document; - reads standard input')
    .option('--schema <place>', 'URL or path of the JSON Schema that the first line tells editors; none leaves it out')
    .option('--json', 'answer with JSON: the text and what is wrong with the document')
    .action(async (file: string, { json, schema }: PrintOptions) => {
      const { text } = await readDocument(file, context);
      const { printed, diagnostics } = printDocument(text, placeOf(schema, context.env));
      if (json === true) context.terminal.json({ file, printed, diagnostics });
      else tellText({ file, printed, diagnostics }, context.terminal);
      context.exitCode = printed === null || hasErrors(diagnostics) ? EXIT.badInput : EXIT.ok;
    });
};

/**
 * Where editors find schemas: as asked, else in the installation that the environment names or one on this machine. A
 * password in that address does not get into the document.
 */
const placeOf = (asked: string | undefined, { FIXPOINT_URL: url }: Context['env']): string => {
  if (asked !== undefined) return asked;
  const { origin, pathname } = URL.parse(url ?? '') ?? new URL('http://127.0.0.1:4100');
  return `${origin}${pathname.replace(/\/+$/, '')}/v1/schemas/`;
};

const tellText = (
  { file, printed, diagnostics }: PrintedDocument & { readonly file: string },
  terminal: Context['terminal'],
): void => {
  for (const each of diagnostics) terminal.note(diagnosticText(file, each));
  if (printed !== null) terminal.print(printed.trimEnd());
};

interface PrintedDocument {
  /** Null when the document can't be read. */
  readonly printed: string | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** @param schema where editors find the schema; a folder ends with a slash; `none` for no word about it. */
const printDocument = (text: string, schema: string): PrintedDocument => {
  const isProtocol = kindOf(text) === 'protocol/v1';
  const { printed, diagnostics } = isProtocol ? protocolText(text) : taskText(text);
  if (printed === null || schema === 'none') return { printed, diagnostics };
  const file = isProtocol ? 'protocol.v1.json' : 'task.v1.json';
  const place = schema.endsWith('/') ? `${schema}${file}` : schema;
  return { printed: `# yaml-language-server: $schema=${place}\n${printed}`, diagnostics };
};

const protocolText = (text: string): PrintedDocument => {
  const { document, diagnostics } = parseProtocol(text, { knownPrimitives, deniedBy });
  return { printed: document === null ? null : printProtocol(document), diagnostics };
};

const taskText = (text: string): PrintedDocument => {
  const { document, diagnostics } = parseTask(text);
  return { printed: document === null ? null : printTask(document), diagnostics };
};
