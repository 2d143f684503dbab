import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { modelAccount } from '../model-account.ts';
import type { FailedCommand } from '../models.ts';
import { type FailingRepository, failingRepository } from './failing-repository.fixture.ts';
import { loadPlaybook } from './load-playbook.ts';
import { playbookModel } from './playbook.ts';

/** What commands of a run have. */
const likeARun = (path: string): Record<string, string> => ({
  LC_ALL: 'C.UTF-8',
  TERM: 'dumb',
  PATH: path,
  npm_config_offline: 'true',
  npm_config_update_notifier: 'false',
});

/** Failures that really happen, in a repository of each test's own, and what the shipped rules make of them. */
export interface ShippedRules {
  folder(): string;
  write(files: Record<string, string>): void;
  commit(files: Record<string, string>): void;
  /** Paths in the newest commit. */
  committed(): string[];
  /** Runs a command that must succeed. @returns what it printed, trimmed. */
  sh(command: string): string;
  /** From now on PATH has these programs and nothing else. */
  onlyPrograms(...names: string[]): void;
  /** Makes the failure happen, asks for a correction, runs that, and answers with its rule. */
  repair(command: string): Promise<string>;
  /** Makes the failure happen; the correction, if there is one, must fail too. */
  staysFailed(command: string): Promise<void>;
  /** Makes the failure happen; nothing may be proposed. */
  isLeftAlone(command: string): Promise<void>;
}

const model = playbookModel(loadPlaybook());
const { signal } = new AbortController();
const account = modelAccount({ money_micros: 0, tokens: 0 });

const propose = async (failed: FailedCommand): Promise<{ rule: string; corrected: string } | null> => {
  const proposal = await model.propose(failed, account, signal);
  return proposal.kind === 'declined' ? null : proposal;
};

/**
 * Declares what makes and removes the repository around each test of a file.
 * @param path where git, node, npm and python3 are found.
 */
export const shippedRules = (path = ''): ShippedRules => {
  let repository: FailingRepository;
  let env: Record<string, string>;
  beforeEach(() => {
    repository = failingRepository();
    env = likeARun(path);
  });
  afterEach(() => repository.remove());

  const sh = (command: string): string => {
    const { exitCode, stdout, stderr } = repository.sh(command, env);
    if (exitCode !== 0) throw new Error(`${command}\n${stderr}`);
    return stdout.trim();
  };
  return {
    sh,
    folder: () => repository.folder,
    write: (files) => repository.write(files),
    commit: (files) => {
      repository.write(files);
      sh('git add -A && git commit -qm change');
    },
    committed: () => repository.committed(),
    onlyPrograms: (...names) => {
      env = likeARun(binOf(repository.folder, sh, names));
    },
    repair: async (command) => {
      const failed = repository.fail(command, env);
      const proposed = await propose(failed);
      if (proposed === null) throw new Error(`declined: exit ${failed.exitCode}\n${failed.stderr.head}`);
      const { exitCode, stderr } = repository.sh(proposed.corrected, env);
      if (exitCode !== 0) throw new Error(`${proposed.rule}: ${proposed.corrected}\nexit ${exitCode}\n${stderr}`);
      return proposed.rule;
    },
    staysFailed: async (command) => {
      const proposed = await propose(repository.fail(command, env));
      if (proposed === null) return;
      const { exitCode } = repository.sh(proposed.corrected, env);
      if (exitCode === 0) throw new Error(`${proposed.rule} hid the failure: ${proposed.corrected}`);
    },
    isLeftAlone: async (command) => {
      expect(await propose(repository.fail(command, env))).toBeNull();
    },
  };
};

const binOf = (folder: string, sh: (command: string) => string, names: readonly string[]): string => {
  const bin = join(folder, '.bin');
  mkdirSync(bin);
  for (const name of names) symlinkSync(sh(placeOf(name)), join(bin, name));
  return bin;
};

/** What stands in PATH may be a launcher that needs others. */
const placeOf = (name: string): string =>
  name === 'python3' ? "python3 -c 'import sys; print(sys.executable)'" : `command -v ${name}`;
