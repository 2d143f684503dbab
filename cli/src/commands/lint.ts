import type { ProtocolSpec } from '@fixpoint/contracts/documents/protocol';
import { hasErrors } from '@fixpoint/documents/diagnostics';
import { parseProtocol } from '@fixpoint/documents/parse-protocol';
import { type SarifInput, sarifLog } from '@fixpoint/documents/sarif';
import type { WorstCase } from '@fixpoint/documents/worst-case';
import { knownPrimitives } from '@fixpoint/execution/primitives/primitives';
import { deniedBy } from '@fixpoint/validation/command-rules';
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { EXIT, Exit } from '../exit-codes.ts';
import { diagnosticText } from '../failure.ts';
import { type Linted, lintDocument } from '../lint-document.ts';
import type { Terminal } from '../output/terminal.ts';
import { readDocument } from '../read-document.ts';
import { version } from '../version.ts';

const FORMATS = ['text', 'json', 'sarif'] as const;
type Format = (typeof FORMATS)[number];

interface LintOptions {
  readonly json?: boolean;
  readonly format: Format;
  readonly protocol?: string;
}

/** `fixpoint lint FILE…` */
export const addLint = (program: Command, context: Context): void => {
  program
    .command('lint')
    .description('check task and protocol documents without an installation')
    .argument('<files...>', 'documents; - reads standard input')
    .option('--json', 'answer with JSON, one object per file; the same as --format json')
    .addOption(new Option('--format <format>', 'how to answer').choices(FORMATS).default('text').conflicts('json'))
    .option('--protocol <file>', 'lint tasks, and tell what they can cost, under this protocol (default: default@1)')
    .action(async (files: readonly string[], options: LintOptions) => {
      const protocol = options.protocol === undefined ? null : await readProtocol(options.protocol, context);
      const linted = await Promise.all(files.map((file) => lintFile(file, protocol, context)));
      tell({ linted, under: protocol?.name ?? 'default@1' }, options.json === true ? 'json' : options.format, context);
      context.exitCode = linted.every(isGood) ? EXIT.ok : EXIT.badInput;
    });
};

/** @throws {Exit} when the protocol is no good: nothing could be said of tasks under it. */
const readProtocol = async (file: string, context: Context): Promise<ProtocolSpec> => {
  const { text } = await readDocument(file, context);
  const { spec, diagnostics } = parseProtocol(text, { knownPrimitives, deniedBy });
  if (spec !== null) return spec;
  throw new Exit(EXIT.badInput, diagnostics.map((each) => diagnosticText(file, each)).join('\n'));
};

/** Whether a file could become a task or a protocol. */
const isGood = (linted: LintedFile): boolean => !('unreadable' in linted) && !hasErrors(linted.diagnostics);

type LintedFile = ({ readonly file: string } & Linted) | { readonly file: string; readonly unreadable: string };

/** A file that can't be read says nothing about the others. */
const lintFile = async (file: string, protocol: ProtocolSpec | null, context: Context): Promise<LintedFile> => {
  try {
    const { text } = await readDocument(file, context);
    return { file, ...lintDocument(text, protocol) };
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    return { file, unreadable: error.message };
  }
};

interface Told {
  readonly linted: readonly LintedFile[];
  /** Name of the protocol that costs are told of. */
  readonly under: string;
}

const tell = (told: Told, format: Format, { terminal }: Context): void => {
  for (const each of told.linted) if ('unreadable' in each) terminal.note(`fixpoint: ${each.unreadable}`);
  TELL[format](told, terminal);
};

const TELL: Readonly<Record<Format, (told: Told, terminal: Terminal) => void>> = {
  text: ({ linted, under }, terminal) => {
    for (const each of linted) tellText(each, under, terminal);
  },
  json: ({ linted }, terminal) => {
    for (const each of linted) terminal.json(jsonOf(each));
  },
  sarif: ({ linted }, terminal) => terminal.json(sarifLog(linted.map(sarifInput), { version: version() })),
};

const sarifInput = (linted: LintedFile): SarifInput =>
  'unreadable' in linted
    ? { ...linted, diagnostics: [], properties: {} }
    : { ...linted, unreadable: null, properties: linted.worst_case === null ? {} : { worst_case: linted.worst_case } };

const jsonOf = (linted: LintedFile): unknown =>
  'unreadable' in linted
    ? { file: linted.file, error: { code: 'unreadable', detail: linted.unreadable, diagnostics: [] } }
    : linted;

const tellText = (linted: LintedFile, under: string, terminal: Terminal): void => {
  if ('unreadable' in linted) return;
  const { file, diagnostics, worst_case } = linted;
  for (const each of diagnostics) terminal.print(diagnosticText(file, each));
  if (worst_case !== null) terminal.print(`${file}: ${worstCaseText(worst_case)} under ${under}`);
};

const worstCaseText = ({ recipe_runs, checks, model_calls, fix_tasks, agent_runs, ...most }: WorstCase) => {
  const { children, money_micros, time_ms } = most;
  const own = `at most ${recipe_runs} recipe runs, ${checks} checks, ${model_calls} model calls, ${fix_tasks} fixes, `;
  return `${own}${agent_runs} runs of agents, ${children} children, ${money_micros / 1_000_000} money and ${time_ms / 3_600_000} h`;
};
