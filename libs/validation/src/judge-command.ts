import { relative } from 'node:path';
import type { ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import type { Finding } from '@fixpoint/contracts/verdict';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Command, CommandResult, Output, Runner } from '@fixpoint/execution/runner';
import { z } from 'zod';
import { artifactText } from './artifact-text.ts';
import { type CheckResult, commandCheckResult, type IndeterminateReason } from './checks.ts';
import type { ValidatorAnswer } from './verdict.ts';

export interface JudgeCommandDeps {
  readonly runner: Runner;
  readonly artifacts: Pick<Artifacts, 'get'>;
  /** The copy of the workspace to look at, absolute. Nothing of it is kept. */
  readonly folder: string;
  readonly confinement: Required<Command>['confinement'];
  readonly env?: Command['env'];
  readonly signal?: AbortSignal;
}

const FAULTS: Readonly<Record<IndeterminateReason, FaultClass>> = {
  not_started: 'internal',
  killed: 'internal',
  timed_out: 'run_timeout',
  cancelled: 'shutdown',
  denied: 'internal',
  wrong_check: 'internal',
};

/**
 * Asks a validator that is a command: exit code 0 passes, any other one objects, and findings on its stdout
 * (`{"findings": [{rule, path, line, criterion, message}]}`, everything optional) say where. A command that could not run
 * to its end has said nothing: a fault.
 */
export const judgeByCommand = async (
  { check, timeout_ms }: Pick<ValidatorSpec, 'timeout_ms'> & { readonly check: { readonly command: string } },
  deps: JudgeCommandDeps,
): Promise<ValidatorAnswer> => {
  const ran = await runInCopy({ text: check.command, timeoutMs: timeout_ms }, deps);
  if ('answer' in ran) return ran;
  const { said, result } = ran;
  const output = result.stdout.hash ?? result.stderr.hash;
  if (said.outcome === 'met') return { answer: 'pass', justification: 'exit code 0', output };
  const findings = findingsIn((await wholeText(result.stdout, deps.artifacts, mostBytes)) ?? '', deps.folder);
  return { answer: 'fail', justification: justificationOf(said.detail, result), findings, output };
};

/** A command that ended by itself, and what its exit code says. */
export interface Ran {
  readonly result: CommandResult;
  readonly said: Exclude<CheckResult, { readonly outcome: 'indeterminate' }>;
}

/** Runs a shell text in the copy; what could not run to its end is a fault. */
export const runInCopy = async (
  { text, ...how }: { readonly text: string } & Pick<Command, 'timeoutMs' | 'home'>,
  { runner, folder, confinement, env, signal }: JudgeCommandDeps,
): Promise<Ran | Extract<ValidatorAnswer, { readonly answer: 'fault' }>> => {
  const result = await runner.run({
    program: { kind: 'shell', text },
    cwd: folder,
    confinement,
    ...how,
    ...(env === undefined ? {} : { env }),
    ...(signal === undefined ? {} : { signal }),
  });
  const said = commandCheckResult(result);
  return said.outcome === 'indeterminate'
    ? { answer: 'fault', class: FAULTS[said.reason], detail: said.detail }
    : { said, result };
};

/** Output ends that are no findings are quoted, so that a fix knows what was said. */
const justificationOf = (detail: string, { stdout, stderr }: CommandResult): string =>
  [detail, excerpt(stdout), excerpt(stderr)].filter((part) => part !== '').join('\n');

/** The ends of what was printed. */
export const excerpt = ({ head, tail, truncated }: Output): string =>
  `${head}${truncated ? '\n[…]\n' : ''}${tail}`.trim();

const mostBytes = 4 * 1024 * 1024;

/** What was printed; null when it is more than `most` bytes, or was cut. */
export const wholeText = async (
  output: Output,
  artifacts: Pick<Artifacts, 'get'>,
  most: number,
): Promise<string | null> => {
  if (!output.truncated) return output.head + output.tail;
  return output.hash === output.sha256 ? artifactText(artifacts, output.hash, most) : null;
};

const saidSchema = z.object({ findings: z.array(z.unknown()) });

const text = (longest: number) => z.string().transform((value) => value.slice(0, longest));

const findingSchema = z.object({
  rule: text(128).catch('finding'),
  path: text(1024).nullable().catch(null),
  line: z.int().positive().nullable().catch(null),
  criterion: text(256).nullable().catch(null),
  message: text(1024).catch(''),
});

/** Findings in what a command printed; none when it is anything else. Paths become relative to the folder. */
export const findingsIn = (stdout: string, folder: string): Finding[] => {
  const said = saidSchema.safeParse(jsonIn(stdout));
  if (!said.success) return [];
  return said.data.findings.flatMap((item) => {
    const finding = findingSchema.safeParse(item);
    return finding.success ? [boundedFinding(finding.data, folder)] : [];
  });
};

/** A finding of texts that are no longer than an event may show; its path becomes relative to the folder. */
export const boundedFinding = (finding: Finding, folder: string): Finding => {
  const { path, ...bounded } = findingSchema.parse(finding);
  return { ...bounded, path: pathIn(path, folder) };
};

const jsonIn = (stdout: string): unknown => {
  try {
    return JSON.parse(stdout);
  } catch {
    return null;
  }
};

/** The copy is in another folder each time; evidence must not be. */
const pathIn = (path: string | null, folder: string): string | null => {
  if (path === null) return null;
  return path.startsWith(`${folder}/`) ? relative(folder, path) : path.replace(/^(\.\/)+/, '');
};
