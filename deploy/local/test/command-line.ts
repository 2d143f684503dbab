import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { RunningInstallation } from './installation.ts';

const PROGRAM = fileURLToPath(new URL('../../../cli/dist/main.js', import.meta.url));

/** Runs `fixpoint` against an installation, as a human does. @returns its exit code. */
export const fixpoint = (
  { writeUrl, auditUrl }: Pick<RunningInstallation, 'writeUrl' | 'auditUrl'>,
  ...args: readonly string[]
): Promise<number> => {
  const all = [PROGRAM, ...args, '--url', writeUrl, '--audit-url', auditUrl];
  return new Promise((resolve) => {
    execFile(process.execPath, all, (error) => resolve(error === null ? 0 : Number(error.code)));
  });
};
