import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { hostRunner } from '../process-runner.ts';
import type { CommandResult } from '../runner.ts';
import { bubblewrap } from './bubblewrap.ts';
import { findProgram } from './find-program.ts';
import type { Sandbox } from './sandbox.ts';

/** What this host can do, seen by having done it. */
export interface SandboxSupport {
  /** Starts nothing where it does not work. */
  readonly sandbox: Sandbox;
  readonly works: boolean;
  /** For people: what is there, or what is missing. */
  readonly detail: string;
}

/** In place of a sandbox that is not there: whoever forgets to ask runs nothing. */
export const refusingSandbox = (detail: string): Sandbox => ({
  name: 'none',
  launch: () => ({ problem: { code: 'sandbox_failed', detail } }),
});

const unsupported = (detail: string): SandboxSupport => ({ sandbox: refusingSandbox(detail), works: false, detail });

/**
 * Looks for bubblewrap and `prlimit`, and runs one command with them.
 * @param folder private to the service; a folder of the probe is made in it and removed.
 */
export const findSandbox = async ({ path, folder }: { path: string; folder: string }): Promise<SandboxSupport> => {
  const [bwrap, prlimit] = [findProgram('bwrap', path), findProgram('prlimit', path)];
  if (bwrap === null) return unsupported(`bubblewrap is not installed (no bwrap in ${path})`);
  if (prlimit === null) return unsupported(`util-linux is not installed (no prlimit in ${path})`);
  const sandbox = bubblewrap({ bwrap, prlimit, path });
  const result = await probe(sandbox, { path, folder: join(folder, 'probe') });
  if (isConfined(result)) return { sandbox, works: true, detail: `bubblewrap at ${bwrap}` };
  return unsupported(`${bwrap} does not work here: ${whyOf(result)}`);
};

/** Its process id, its capabilities, whether it may get more, and the interfaces it sees. */
const LOOK = 'echo "pid $$"; grep -E "^(CapEff|NoNewPrivs):" /proc/self/status; grep -c : /proc/net/dev';

const probe = async (sandbox: Sandbox, { path, folder }: { path: string; folder: string }): Promise<CommandResult> => {
  const cwd = join(folder, 'cwd');
  await mkdir(cwd, { recursive: true });
  try {
    const runner = hostRunner({ artifacts: forgetful, folder: join(folder, 'commands'), path, sandbox });
    return await runner.run({ program: { kind: 'shell', text: LOOK }, cwd, timeoutMs: 10_000 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const isConfined = ({ exitCode, stdout }: CommandResult): boolean =>
  exitCode === 0 && /^pid [2-9]\nNoNewPrivs:\s*1\nCapEff:\s*0+\n1\n$/.test(inOrder(stdout.head));

/** The kernel lists the two lines of its status as it likes. */
const inOrder = (text: string): string => text.replace(/^(CapEff:.*\n)(NoNewPrivs:.*\n)/m, '$2$1');

const whyOf = ({ status, error, stdout, stderr }: CommandResult): string =>
  [error?.detail ?? `its command ${status}`, stderr.head.trim(), stdout.head.trim()].filter(Boolean).join(': ');

/** What the probe prints is read from its ends. */
const forgetful: Artifacts = {
  put: async (content) => {
    let bytes = 0;
    for await (const chunk of content instanceof Uint8Array ? [content] : content) bytes += chunk.length;
    return { hash: '', bytes };
  },
  get: async () => null,
};
