import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FailedCommand } from '../models.ts';

interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A git repository in a temporary folder, where commands really run and really fail. */
export interface FailingRepository {
  readonly folder: string;
  write(files: Record<string, string>): void;
  sh(command: string, env?: Record<string, string>): Outcome;
  /** Runs a command that must fail and says what a model is told about it. */
  fail(command: string, env?: Record<string, string>): FailedCommand;
  /** Paths in the newest commit. */
  committed(): string[];
  remove(): void;
}

export const failingRepository = (): FailingRepository => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'playbook-')));
  const sh = (command: string, env: Record<string, string> = {}): Outcome => {
    const run = spawnSync('sh', ['-c', command], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: folder,
        GIT_CONFIG_NOSYSTEM: '1',
        LC_ALL: 'C',
        ...env,
      },
      maxBuffer: 64 * 1024 * 1024,
    });
    return { exitCode: run.status, stdout: run.stdout, stderr: run.stderr };
  };
  sh('git init -q -b main . && git config user.name Test && git config user.email test@example.org');
  return {
    folder,
    sh,
    write: (files) => {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
    },
    fail: (command, env) => {
      const { exitCode, stdout, stderr } = sh(command, env);
      if (exitCode === 0) throw new Error(`did not fail: ${command}\n${stdout}`);
      return failedCommand(command, { exitCode, stdout, stderr });
    },
    committed: () =>
      sh('git ls-tree -r --name-only HEAD')
        .stdout.split('\n')
        .filter((path) => path !== ''),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};

const HEAD = 4096;

export const failedCommand = (command: string, { exitCode, stdout, stderr }: Outcome): FailedCommand => ({
  goal: 'The change is committed',
  command,
  language: 'sh',
  exitCode,
  signal: null,
  timedOut: false,
  stdout: { head: stdout.slice(0, HEAD), tail: stdout.slice(-HEAD) },
  stderr: { head: stderr.slice(0, HEAD), tail: stderr.slice(-HEAD) },
  attempt: 1,
  previous: [command],
});
