import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { modelAccount } from '../model-account.ts';
import { repairModelContract } from '../models.contract.ts';
import type { FailedCommand } from '../models.ts';
import { type FailingRepository, failingRepository } from './failing-repository.fixture.ts';
import { loadPlaybook } from './load-playbook.ts';
import { playbookModel } from './playbook.ts';

const model = playbookModel(loadPlaybook());
const { signal } = new AbortController();
const account = modelAccount({ money_micros: 0, tokens: 0 });

let repository: FailingRepository;
beforeEach(() => {
  repository = failingRepository();
});
afterEach(() => {
  repository.remove();
});

const propose = async (failed: FailedCommand): Promise<{ rule: string; corrected: string }> => {
  const proposal = await model.propose(failed, account, signal);
  if (proposal.kind === 'declined') throw new Error(`${proposal.reason}\n${failed.exitCode}\n${failed.stderr.head}`);
  return proposal;
};

/** Makes the failure happen, asks for a correction, runs it, and answers with the rule. */
const repair = async (command: string, env: Record<string, string> = {}): Promise<string> => {
  const { rule, corrected } = await propose(repository.fail(command, env));
  const { exitCode, stderr } = repository.sh(corrected, env);
  if (exitCode !== 0) throw new Error(`${rule}: ${corrected}\nexit ${exitCode}\n${stderr}`);
  return rule;
};

const BIG = `${'x'.repeat(79)}\n`.repeat(20_000);

describe('I-B01 a commit step whose output overflows the buffer of its wrapper', () => {
  const commit = 'git add -A && git diff --cached && git commit -qm deps';

  test.each([
    ['a command alone', `node -e "require('child_process').execSync('${commit}')"`],
    ['double quotes inside single ones', `node -e 'require("child_process").execSync("${commit}")'`],
    ['escaped quotes', `node -e "require('child_process').execSync(\\"${commit}\\")"`],
    ['options', `node -e "require('child_process').execSync('${commit}', { encoding: 'utf8' })"`],
    ['a limit that is too low', `node -e "require('child_process').execSync('${commit}', { maxBuffer: 1024 * 512 })"`],
    ['a variable', `node -e "const c = '${commit}'; require('node:child_process').execSync(c)"`],
    ['a callback', `node -e "require('child_process').exec('${commit}', (error) => { if (error) throw error; })"`],
    [
      'a program with arguments',
      `git add -A && node -e "require('child_process').execFileSync('git', ['diff', '--cached'])" && git commit -qm deps`,
    ],
  ])('%s: the limit is lifted and the commit is made', async (_, command) => {
    repository.write({ 'go.sum': BIG });
    expect(await repair(command)).toBe('node-output-overflow');
    expect(repository.committed()).toEqual(['go.sum']);
  });
});

describe('I-B02 a path exclusion that git rejects', () => {
  test.each([
    ["git add -A -- . ':!__pycache__' && git commit -qm deps"],
    ['git add -A -- . ":!__pycache__" && git commit -qm deps'],
    ['git add -A -- . :!__pycache__ && git commit -qm deps'],
    ["git add -A -- . ':^__pycache__' && git commit -qm deps"],
    ['git add -A -- . :!/__pycache__ && git commit -qm deps'],
    ["git add -A -- . ':!/__pycache__' ':!_x' && git commit -qm deps"],
    [`sh -c "git add -A -- . ':!__pycache__'" && git commit -qm deps`],
  ])('%s: the caches stay out', async (command) => {
    repository.write({ 'a.txt': 'a', '__pycache__/a.pyc': 'x' });
    const failed = repository.fail(command);
    expect(failed.exitCode).toBe(128);
    expect(failed.stderr.head).toContain("Unimplemented pathspec magic '_'");
    expect(await repair(command)).toBe('git-exclude-magic');
    expect(repository.committed()).toEqual(['a.txt']);
  });
});

describe('I-B03 a path that git ignores is named to add', () => {
  test.each([
    'git add a.txt build.log && git commit -qm deps',
    "git add a.txt 'build.log' ./dist && git commit -qm deps",
    'git add dist/ a.txt && git commit -qm deps',
  ])('%s: it is left out', async (command) => {
    repository.write({ '.gitignore': '*.log\ndist\n', 'a.txt': 'a', 'build.log': 'x', 'dist/x.js': 'x' });
    expect(await repair(command)).toBe('git-ignored-path');
    expect(repository.committed()).toEqual(['a.txt']);
  });

  test('a glob that the shell made of it can not be corrected', async () => {
    repository.write({ '.gitignore': '*.log\n', 'a.log': 'x' });
    expect(await model.propose(repository.fail('git add *.log'), account, signal)).toMatchObject({ kind: 'declined' });
  });
});

describe('I-B04 a parenthesis in sh', () => {
  test('a pathspec without quotes is quoted', async () => {
    repository.write({ 'a.txt': 'a', '__pycache__/a.pyc': 'x' });
    expect(await repair('git add -A -- . :(exclude)__pycache__ && git commit -qm deps')).toBe(
      'shell-unquoted-pathspec',
    );
    expect(repository.committed()).toEqual(['a.txt']);
  });

  test('a commit message without quotes is quoted', async () => {
    repository.write({ 'a.txt': 'a' });
    expect(await repair('git add -A && git commit -q -m fix(deps): update all && git status')).toBe(
      'shell-unquoted-message',
    );
    expect(repository.sh('git log -1 --format=%s').stdout).toBe('fix(deps): update all\n');
  });

  test.each([
    'files=(a.txt b.txt); git add "$'.concat('{files[@]}" && git commit -qm deps'),
    '[[ -f a.txt ]] && git add -A && git commit -qm deps',
    'set -o pipefail; git add -A | cat && git commit -qm deps',
    'message=deps; git add -A && git commit -qm "$'.concat('{message^^}"'),
  ])('what only bash understands is run by bash: %s', async (command) => {
    repository.write({ 'a.txt': 'a', 'b.txt': 'b' });
    expect(await repair(command)).toBe('shell-needs-bash');
    expect(repository.committed()).toEqual(['a.txt', 'b.txt']);
  });
});

describe('I-B05 and other mechanics of a commit', () => {
  test('a path that is not there is left out; git names one at a time, so each takes a repair', async () => {
    repository.write({ 'package.json': '{}' });
    const command = "git add package.json 'yarn.lock' package-lock.json && git commit -qm deps";
    const first = await propose(repository.fail(command));
    expect(first).toMatchObject({ rule: 'git-missing-path' });
    expect(await repair(first.corrected)).toBe('git-missing-path');
    expect(repository.committed()).toEqual(['package.json']);
  });

  test('a missing identity is given for the command alone', async () => {
    repository.write({ 'a.txt': 'a' });
    repository.sh('git config --unset user.name; git config --unset user.email; git config user.useConfigOnly true');
    expect(await repair('git add -A && git -c core.editor=true commit -m deps')).toBe('git-no-identity');
    expect(repository.sh('git log -1 --format=%ae').stdout).toBe('fixpoint@localhost\n');
    expect(repository.sh('git config user.email').exitCode).toBe(1);
  });

  test('a repository of another user is trusted for the command alone', async () => {
    repository.write({ 'a.txt': 'a' });
    const env = { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' };
    expect(await repair('git add -A && git commit -qm deps', env)).toBe('git-dubious-ownership');
    expect(repository.committed()).toEqual(['a.txt']);
    expect(repository.sh('git status', env).exitCode).toBe(128);
  });

  test('two failures in a row take two repairs, each of the last command', async () => {
    repository.write({ 'a.txt': BIG, '__pycache__/a.pyc': 'x' });
    const steps = 'git add -A -- . :!__pycache__ && git diff --cached && git commit -qm deps';
    const first = await propose(repository.fail(`node -e "require('child_process').execSync('${steps}')"`));
    expect(first.rule).toBe('git-exclude-magic');
    expect(await repair(first.corrected)).toBe('node-output-overflow');
    expect(repository.committed()).toEqual(['a.txt']);
  });

  test('nothing to commit is no failure that a rule could correct', async () => {
    repository.write({ 'a.txt': 'a' });
    repository.sh('git add -A && git commit -qm first');
    expect(await model.propose(repository.fail('git commit -m deps'), account, signal)).toMatchObject({
      kind: 'declined',
    });
  });
});

repairModelContract('the shipped playbook', async () => ({
  model,
  repairable: repository.fail("git add -A -- . ':!__pycache__'"),
}));
