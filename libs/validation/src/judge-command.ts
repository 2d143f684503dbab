import { relative } from 'node:path';
import type { ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import type { Finding } from '@fixpoint/contracts/verdict';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Command, CommandResult, Output, Runner } from '@fixpoint/execution/runner';
import { z } from 'zod';
import { artifactText } from './artifact-text.ts';
import { commandCheckResult, type IndeterminateReason } from './checks.ts';
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
  const result = await deps.runner.run({
    program: { kind: 'shell', text: check.command },
    cwd: deps.folder,
    timeoutMs: timeout_ms,
    confinement: deps.confinement,
    ...(deps.env === undefined ? {} : { env: deps.env }),
    ...(deps.signal === undefined ? {} : { signal: deps.signal }),
  });
  const said = commandCheckResult(result);
  if (said.outcome === 'indeterminate') return { answer: 'fault', class: FAULTS[said.reason], detail: said.detail };
  const output = result.stdout.hash ?? result.stderr.hash;
  if (said.outcome === 'met') return { answer: 'pass', justification: 'exit code 0', output };
  const findings = findingsIn(await wholeText(result.stdout, deps.artifacts), deps.folder);
  return { answer: 'fail', justification: justificationOf(said.detail, result), findings, output };
};

/** Output ends that are no findings are quoted, so that a fix knows what was said. */
const justificationOf = (detail: string, { stdout, stderr }: CommandResult): string =>
  [detail, excerpt(stdout), excerpt(stderr)].filter((part) => part !== '').join('\n');

const excerpt = ({ head, tail, truncated }: Output): string => `${head}${truncated ? '\n[…]\n' : ''}${tail}`.trim();

const mostBytes = 4 * 1024 * 1024;

const wholeText = async (output: Output, artifacts: Pick<Artifacts, 'get'>): Promise<string> => {
  if (!output.truncated) return output.head + output.tail;
  return output.hash === null ? '' : ((await artifactText(artifacts, output.hash, mostBytes)) ?? '');
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
    return finding.success ? [{ ...finding.data, path: pathIn(finding.data.path, folder) }] : [];
  });
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
