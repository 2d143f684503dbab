import type { SandboxRequirement } from '@fixpoint/contracts/documents/protocol';
import type { SandboxPolicy } from '@fixpoint/execution/sandbox/confinement';
import { findSandbox } from '@fixpoint/execution/sandbox/find-sandbox';
import type { Sandbox } from '@fixpoint/execution/sandbox/sandbox';
import type { Log } from './log.ts';

interface SandboxConfig {
  readonly folder: string;
  readonly path: string;
  /** Left out: required. */
  readonly sandbox?: SandboxRequirement;
  readonly readable?: readonly string[];
}

const UNCONFINED = 'commands run without a sandbox: they can read and reach whatever the user of this service can';

/** Tries the sandbox of this host, and says at start what commands will run in. */
export const preparedSandbox = async (
  { folder, path, sandbox: requirement = 'required', readable = [] }: SandboxConfig,
  log: Log,
): Promise<{ readonly policy: SandboxPolicy; readonly sandbox: Sandbox }> => {
  const support = await findSandbox({ path, folder });
  say(log, { requirement, works: support.works, detail: support.detail });
  return { policy: { requirement, support, readable }, sandbox: support.sandbox };
};

const say = (log: Log, found: { requirement: SandboxRequirement; works: boolean; detail: string }): void => {
  if (found.requirement === 'none') log.warn(found, UNCONFINED);
  else if (found.works) log.info(found, 'commands run in a sandbox');
  else if (found.requirement === 'preferred') log.warn(found, UNCONFINED);
  else log.error(found, 'commands are refused: there is no sandbox here');
};
