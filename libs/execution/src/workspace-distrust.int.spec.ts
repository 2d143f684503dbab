import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { memoryArtifacts } from './artifacts.fixture.ts';
import { type Git, hostGit } from './git.ts';
import { gitWorkspaces } from './git-workspaces.ts';
import { runPrimitive } from './primitives/primitives.ts';
import type { Workspaces } from './workspaces.ts';

const path = process.env.PATH ?? '/usr/bin:/bin';
const how = { keep: [], refName: 'refs/fixpoint/root/task/1' };
let top: string;
let folder: string;
let workspaces: Workspaces;
let ours: Git;
let start: WorkspaceRef;

/** Git as a recipe would call it. */
const recipe = (...args: string[]): string =>
  execFileSync('git', args, { cwd: folder, env: { PATH: path, HOME: top }, stdio: 'pipe' })
    .toString()
    .trim();

/** A program that leaves a trace when it is started. */
const program = (name: string): string => {
  const file = join(top, name);
  writeFileSync(file, `#!/bin/sh\ntouch ${file}.ran\nexit 1\n`, { mode: 0o755 });
  return file;
};
const hasRun = (name: string): boolean => existsSync(join(top, `${name}.ran`));

const primitive = async (name: string, parameters: object): Promise<boolean> => {
  const context = { folder, scratch: new Map(), git: ours, signal: new AbortController().signal };
  return (await runPrimitive(name, parameters, context)).ok;
};
const isClean = (): Promise<boolean> => primitive('git-clean', {});

beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-distrust-'));
  folder = join(top, 'w');
  workspaces = gitWorkspaces({ root: join(top, 'cache'), artifacts: memoryArtifacts(), path });
  ours = hostGit({ folder: join(top, 'git'), path });
  await workspaces.materialise(await workspaces.resolve(null), folder);
  writeFileSync(join(folder, 'a.txt'), 'a\n');
  recipe('add', 'a.txt');
  recipe('commit', '-qm', 'First');
  start = await workspaces.capture(folder, await workspaces.resolve(null), how);
});

afterEach(() => rmSync(top, { recursive: true }));

describe('a workspace whose recipe is not to be trusted', () => {
  test.each([['--assume-unchanged'], ['--skip-worktree']])(
    'shows what it told git not to look at: %s',
    async (flag) => {
      recipe('update-index', flag, 'a.txt');
      writeFileSync(join(folder, 'a.txt'), 'changed\n');
      expect(recipe('status', '--porcelain')).toBe('');
      expect(await isClean()).toBe(false);
      const ref = await workspaces.capture(folder, start, how);
      await workspaces.materialise(ref, join(top, 'elsewhere'));
      expect(readFileSync(join(top, 'elsewhere/a.txt'), 'utf8')).toBe('changed\n');
    },
  );

  test('starts no monitor and no hook that it configured', async () => {
    mkdirSync(join(folder, '.git/hooks'));
    recipe('config', 'core.fsmonitor', program('monitor'));
    program('post-commit');
    recipe('config', 'core.hooksPath', top);
    writeFileSync(join(folder, 'b.txt'), 'b\n');
    expect(await isClean()).toBe(false);
    await ours.run({ args: ['add', '.'], cwd: folder });
    await ours.run({ args: ['commit', '-qm', 'Second'], cwd: folder });
    expect([hasRun('monitor'), hasRun('post-commit')]).toEqual([false, false]);
  });

  test.each(['clean', 'process'])('starts no filter that it configured: %s', async (kind) => {
    recipe('config', `filter.own.${kind}`, program('filter'));
    recipe('config', 'diff.own.textconv', program('textconv'));
    mkdirSync(join(folder, '.git/info'), { recursive: true });
    writeFileSync(join(folder, '.git/info/attributes'), '* filter=own diff=own\n');
    writeFileSync(join(folder, '.gitattributes'), '* filter=own diff=own\n');
    writeFileSync(join(folder, 'a.txt'), 'changed\n');
    expect(await isClean()).toBe(false);
    expect(await primitive('commit', { message: 'Second' })).toBe(true);
    expect(recipe('log', '-1', '--format=%s')).toBe('Second');
    expect(recipe('show', 'HEAD:a.txt')).toBe('changed');
    expect(await isClean()).toBe(true);
    expect([hasRun('filter'), hasRun('textconv')]).toEqual([false, false]);
  });

  test('is not clean because of a filter that gives what was committed', async () => {
    recipe('config', 'filter.own.clean', 'echo a; cat >/dev/null');
    writeFileSync(join(folder, '.git/info/attributes'), 'a.txt filter=own\n');
    writeFileSync(join(folder, 'a.txt'), 'changed\n');
    recipe('add', 'a.txt');
    expect(recipe('status', '--porcelain')).toBe('');
    expect(await isClean()).toBe(false);
  });

  test('is not asked through a repository inside it', async () => {
    const inner = join(folder, 'inner');
    const inside = (...args: string[]) => recipe('-C', inner, '-c', 'user.name=t', '-c', 'user.email=t', ...args);
    mkdirSync(inner);
    writeFileSync(join(inner, 'b.txt'), 'b\n');
    recipe('init', '-q', inner);
    inside('add', '.');
    inside('commit', '-qm', 'Inner');
    recipe('add', 'inner');
    inside('config', 'core.fsmonitor', program('monitor'));
    writeFileSync(join(inner, 'b.txt'), 'changed\n');
    await isClean();
    await primitive('commit', { message: 'Second' });
    await workspaces.capture(folder, start, how);
    expect(hasRun('monitor')).toBe(false);
  });

  test('fetches nothing that it says is missing', async () => {
    recipe('config', 'core.repositoryformatversion', '1');
    recipe('config', 'extensions.partialClone', 'there');
    recipe('config', 'remote.there.promisor', 'true');
    recipe('config', 'remote.there.url', join(top, 'there'));
    recipe('config', 'remote.there.uploadpack', program('uploadpack'));
    writeFileSync(join(folder, '.git/HEAD'), `${'1234'.repeat(10)}\n`);
    expect(await workspaces.capture(folder, start, how)).toEqual(start);
    expect(hasRun('uploadpack')).toBe(false);
  });

  test('holds nobody up with a pipe in place of a file of git', async () => {
    mkdirSync(join(folder, '.git/info'), { recursive: true });
    for (const name of ['.git/index', '.git/info/exclude']) {
      rmSync(join(folder, name), { force: true });
      execFileSync('mkfifo', [join(folder, name)]);
    }
    expect(await workspaces.capture(folder, start, how)).toEqual(start);
  }, 20_000);
});
