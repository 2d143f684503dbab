import type { ModeSpec, ReportCheck, ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Runner } from '@fixpoint/execution/runner';
import { confinementFor, type SandboxPolicy } from '@fixpoint/execution/sandbox/confinement';
import { judgeByCommand } from '@fixpoint/validation/judge-command';
import { judgeByReport } from '@fixpoint/validation/judge-report';
import type { ValidatorAnswer } from '@fixpoint/validation/verdict';
import type { WorkspaceCopy } from './workspace-copy.ts';

export interface CommandDeps {
  readonly runner: Runner;
  readonly artifacts: Pick<Artifacts, 'get'>;
  readonly sandboxPolicy: SandboxPolicy;
}

interface Asking {
  readonly mode: Pick<ModeSpec, 'sandbox'>;
  readonly copy: WorkspaceCopy;
  readonly signal: AbortSignal;
}

type CommandCheck = { readonly command: string } | { readonly report: ReportCheck };

/** Asks a validator that runs a command, confined as its mode says; where it may not run at all, nobody has looked: a fault. */
export const askCommand = async (
  { runner, artifacts, sandboxPolicy }: CommandDeps,
  { check, timeout_ms, network }: Pick<ValidatorSpec, 'timeout_ms' | 'network'> & { check: CommandCheck },
  { mode, copy, signal }: Asking,
): Promise<ValidatorAnswer> => {
  const confinement = confinementFor(sandboxPolicy, mode, { network: network === true });
  if ('refused' in confinement) return { answer: 'fault', class: 'internal', detail: confinement.detail };
  const folder = await copy.folder();
  const readable = [...confinement.readable, ...(await copy.borrowed())];
  const how = { runner, artifacts, folder, signal, confinement: { ...confinement, readable } };
  return 'command' in check
    ? judgeByCommand({ check, timeout_ms }, how)
    : judgeByReport({ check: check.report, timeout_ms }, how);
};
