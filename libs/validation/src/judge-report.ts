import { constants } from 'node:fs';
import { mkdtemp, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportCheck, ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { Finding } from '@fixpoint/contracts/verdict';
import { removeFolder } from '@fixpoint/execution/remove-folder';
import { namedCriteria } from './criteria.ts';
import { boundedFinding, excerpt, type JudgeCommandDeps, type Ran, runInCopy, wholeText } from './judge-command.ts';
import { readJunit } from './reports/junit-report.ts';
import { type ReportReading, unreadable } from './reports/report-reading.ts';
import { readSarif } from './reports/sarif-report.ts';
import { readTap } from './reports/tap-report.ts';
import { TimeLimitPassed, withinLimit } from './time-limit.ts';
import { EXIT_CODE_RULE, type ValidatorAnswer } from './verdict.ts';

interface ReportValidator extends Pick<ValidatorSpec, 'timeout_ms'> {
  readonly check: ReportCheck;
}

/** Of a report; what is longer is not read. */
const mostBytes = 8 * 1024 * 1024;

/**
 * Asks a tool that writes a report. The report decides, whatever the exit code: tools end with 1 for what they found. An
 * exit code that the report does not account for objects by itself; a report that is missing, empty, cut or garbled is a
 * fault and never a pass.
 */
export const judgeByReport = async (
  { check, timeout_ms: timeoutMs }: ReportValidator,
  deps: JudgeCommandDeps,
): Promise<ValidatorAnswer> => {
  // Empty beforehand, so that no report of an earlier run is in it.
  const home = await mkdtemp(`${deps.folder}-home-`);
  try {
    const ran = await runInCopy({ text: check.command, timeoutMs, home }, deps);
    if ('answer' in ran) return ran;
    const text = await reportText(check, { ran, home, deps });
    return answerOf(readWithin(check, text, timeoutMs), { ran, check, folder: await realpath(deps.folder) });
  } finally {
    await removeFolder(home);
  }
};

interface Written {
  readonly ran: Ran;
  readonly home: string;
  readonly deps: JudgeCommandDeps;
}

/** Null: there is none, it is no plain file of the home folder, or it is too long. */
const reportText = async ({ file }: ReportCheck, { ran, home, deps }: Written): Promise<string | null> =>
  file === undefined
    ? wholeText(ran.result.stdout, deps.artifacts, mostBytes)
    : fileText(join(await realpath(home), file));

const MISSING = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'ENXIO'];

/** The command has ended with all that it started: nobody swaps a folder for a link any more. */
const fileText = async (path: string): Promise<string | null> => {
  const real = await realpath(path).catch(nullIfMissing);
  if (real !== path) return null;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(nullIfMissing);
  if (file === null) return null;
  try {
    const about = await file.stat();
    return about.isFile() && about.size <= mostBytes ? await file.readFile('utf8') : null;
  } finally {
    await file.close();
  }
};

const nullIfMissing = (error: NodeJS.ErrnoException): null => {
  if (MISSING.includes(error.code ?? '')) return null;
  throw error;
};

const readWithin = (check: ReportCheck, text: string | null, limitMs: number): ReportReading => {
  if (text === null) return unreadable(`there is none of at most ${mostBytes} bytes`);
  if (text.trim() === '') return unreadable('it is empty');
  try {
    return withinLimit(limitMs, () => read(check, text));
  } catch (error) {
    if (error instanceof TimeLimitPassed) return unreadable(error.message);
    // What a parser throws is about the text that it was given.
    return unreadable(error instanceof Error ? error.message : 'not understood');
  }
};

const read = ({ format, level }: ReportCheck, text: string): ReportReading => {
  switch (format) {
    case 'sarif':
      return readSarif(text, level ?? 'warning');
    case 'junit':
      return readJunit(text);
    case 'tap':
      return readTap(text);
    default:
      return format satisfies never;
  }
};

const answerOf = (
  reading: ReportReading,
  { ran, check, folder }: { readonly ran: Ran; readonly check: ReportCheck; readonly folder: string },
): ValidatorAnswer => {
  const { said, result } = ran;
  if (reading.outcome === 'unreadable') {
    const parts = [`the ${check.format} report can not be read: ${reading.problem}`, said.detail];
    const detail = [...parts, excerpt(result.stderr)].filter((part) => part !== '').join('\n');
    return { answer: 'fault', class: 'internal', detail };
  }
  const output = result.stdout.hash ?? result.stderr.hash;
  const { objections, uncounted, looked } = reading;
  const findings = objections.map((objection) => boundedFinding(objection, folder));
  if (findings.length === 0 && said.outcome === 'unmet' && uncounted === 0) {
    const message = `${said.detail}, and the report does not say why (${looked})`;
    const finding: Finding = { rule: EXIT_CODE_RULE, path: null, line: null, criterion: null, message };
    return { answer: 'fail', justification: message, findings: [finding], output };
  }
  if (findings.length === 0) return { answer: 'pass', justification: `${looked}, none that counts`, output };
  const justification = [`${findings.length} of ${looked}`, ...findings.map(inWords)].join('\n');
  return { answer: 'fail', justification, findings, criteria: namedCriteria(findings), output };
};

const inWords = ({ rule, path, line, criterion, message }: Finding): string => {
  const place = path === null ? '' : `${path}${line === null ? '' : `:${line}`} `;
  return `${place}${rule}${criterion === null ? '' : ` ${criterion}`}: ${message.split('\n', 1)[0]}`;
};
