import type { ModeSpec, SandboxRequirement } from '@fixpoint/contracts/documents/protocol';
import type { SandboxSupport } from './find-sandbox.ts';
import type { Confinement, Limits } from './limits.ts';
import { DEFAULT_LIMITS } from './limits.ts';

/** What an installation says and can. */
export interface SandboxPolicy {
  /** For modes that say nothing. */
  readonly requirement: SandboxRequirement;
  readonly support: Pick<SandboxSupport, 'works' | 'detail'>;
  /** Absolute paths that every command may read beside the programs of the host. */
  readonly readable: readonly string[];
}

export interface Refused {
  readonly refused: 'sandbox_unavailable' | 'network_forbidden';
  readonly detail: string;
}

const limitsOf = (given: NonNullable<NonNullable<ModeSpec['sandbox']>['limits']>): Limits => ({
  cpu_s: given.cpu_s ?? DEFAULT_LIMITS.cpu_s,
  memory_bytes: given.memory_bytes ?? DEFAULT_LIMITS.memory_bytes,
  file_bytes: given.file_bytes ?? DEFAULT_LIMITS.file_bytes,
  disk_bytes: given.disk_bytes ?? DEFAULT_LIMITS.disk_bytes,
  processes: given.processes ?? DEFAULT_LIMITS.processes,
  open_files: given.open_files ?? DEFAULT_LIMITS.open_files,
});

/** How a command of a mode is run, or that it is not. There is no way from `required` to running without a sandbox. */
export const confinementFor = (
  { requirement: byDefault, support, readable }: SandboxPolicy,
  { sandbox: mode }: Pick<ModeSpec, 'sandbox'>,
  asked: { readonly network: boolean },
): Confinement | Refused => {
  const requirement = mode?.require ?? byDefault;
  if (asked.network && mode?.network === 'forbidden') {
    return { refused: 'network_forbidden', detail: 'the node asks for the network, and its mode forbids it' };
  }
  if (requirement === 'required' && !support.works) {
    return { refused: 'sandbox_unavailable', detail: `a sandbox is required: ${support.detail}` };
  }
  const limits = limitsOf(mode?.limits ?? {});
  return { sandboxed: requirement !== 'none' && support.works, network: asked.network, readable, limits };
};
