import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { memoryArtifacts } from '../artifacts.fixture.ts';
import { hostGit } from '../git.ts';
import { gitWorkspaces } from '../git-workspaces.ts';
import { hostRunner } from '../process-runner.ts';
import { noSandbox } from '../sandbox/no-sandbox.ts';
import type { PrimitiveContext, PrimitiveResult } from './primitive.ts';
import { primitives, runPrimitive } from './primitives.ts';

const path = process.env.PATH ?? '/usr/bin:/bin';
let top: string;
let folder: string;
let context: PrimitiveContext;

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: folder, env: { PATH: path, HOME: top }, stdio: 'pipe' })
    .toString()
    .trim();

const write = (files: Record<string, string>): void => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
};

const committed = (): string[] =>
  git('show', '--format=', '--name-only', '-z', 'HEAD')
    .split('\0')
    .filter((name) => name !== '');

const commit = (more: object = {}): Promise<PrimitiveResult> =>
  runPrimitive('commit', { message: 'Do it (all), "quoted" $HOME', ...more }, context);

const isClean = async (parameters: object = {}): Promise<boolean> =>
  (await runPrimitive('git-clean', parameters, context)).ok;

beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-commit-'));
  folder = join(top, 'w');
  const workspaces = gitWorkspaces({ root: join(top, 'cache'), artifacts: memoryArtifacts(), path });
  await workspaces.materialise(await workspaces.resolve(null), folder);
  const signal = new AbortController().signal;
  context = { folder, scratch: new Map(), git: hostGit({ folder: join(top, 'git'), path }), signal };
});

afterEach(() => rmSync(top, { recursive: true }));

describe('a commit', () => {
  test('holds every change under the message as it was given', async () => {
    write({ 'a b.txt': 'a', 'ümlaut/(odd) $x.txt': 'b' });
    expect(await commit()).toMatchObject({ ok: true, output: { count: 2 } });
    expect(committed()).toEqual(['a b.txt', 'ümlaut/(odd) $x.txt']);
    expect(git('log', '-1', '--format=%B')).toBe('Do it (all), "quoted" $HOME');
    write({ 'c.txt': 'c' });
    rmSync(join(folder, 'a b.txt'));
    await commit();
    expect(committed()).toEqual(['a b.txt', 'c.txt']);
  });

  test('of nothing is fine', async () => {
    const before = git('rev-parse', 'HEAD');
    expect(await commit()).toMatchObject({ ok: true, output: { commit: before, count: 0 } });
    expect(git('rev-parse', 'HEAD')).toBe(before);
  });

  test('I-B05: leaves stray caches out, also those that were staged before', async () => {
    write({
      'src/a.py': 'a',
      'src/__pycache__/a.pyc': 'x',
      'go/pkg/mod/m': 'x',
      'node_modules/.cache/y': 'x',
      'mine/z': 'x',
    });
    git('add', '-A');
    await commit({ exclude: ['mine/'] });
    expect(committed()).toEqual(['src/a.py']);
  });

  test('keeps what it leaves out in the folder, and its own check knows', async () => {
    write({ 'a.txt': 'a', '__pycache__/a.pyc': 'x' });
    await commit();
    expect(await isClean()).toBe(false);
    const check = primitives.get('commit')?.postcondition({ message: 'm' });
    expect(await isClean(check?.with)).toBe(true);
    write({ 'b.txt': 'b' });
    expect(await isClean(check?.with)).toBe(false);
  });

  test('holds caches when asked to', async () => {
    write({ '__pycache__/a.pyc': 'x' });
    await commit({ exclude_caches: false });
    expect(committed()).toEqual(['__pycache__/a.pyc']);
  });

  test('I-B03: minds no path that git ignores', async () => {
    write({ '.gitignore': 'ignored/\n', 'ignored/x': 'x', 'a.txt': 'a' });
    expect(await commit({ exclude: ['ignored'] })).toMatchObject({ ok: true });
    expect(committed()).toEqual(['.gitignore', 'a.txt']);
    expect(await isClean()).toBe(true);
  });

  test('excludes from the top with a slash, by pattern, and nothing that only looks alike', async () => {
    write({ 'out/x': '', 'deep/out/x': '', 'deep/outer': '', 'a.tmp': '', 'deep/b.tmp': '', 'b.tmpl': '' });
    await commit({ exclude: ['/out', '*.tmp'] });
    expect(committed()).toEqual(['b.tmpl', 'deep/out/x', 'deep/outer']);
  });

  test('gets past the lock that a killed git left', async () => {
    write({ 'a.txt': 'a', '.git/index.lock': '' });
    expect(await commit()).toMatchObject({ ok: true, output: { count: 1 } });
  });

  test('ends a merge that an earlier step began', async () => {
    write({ 'a.txt': 'a' });
    await commit();
    const main = git('symbolic-ref', '--short', 'HEAD');
    git('checkout', '-qb', 'side');
    write({ 'b.txt': 'b' });
    await commit();
    git('checkout', '-q', main);
    write({ 'c.txt': 'c' });
    await commit();
    git('merge', '-q', '--no-commit', '--no-ff', 'side');
    expect(await commit()).toMatchObject({ ok: true, output: { count: 1 } });
    expect(git('log', '-1', '--format=%P').split(' ')).toHaveLength(2);
    expect(git('symbolic-ref', '--short', 'HEAD')).toBe(main);
    expect(git('status', '--porcelain=v2', '--branch')).not.toContain('u ');
    expect(existsSync(join(folder, '.git/MERGE_HEAD'))).toBe(false);
  });

  test('of a repository without one is its first', async () => {
    rmSync(join(folder, '.git'), { recursive: true });
    git('init', '-q');
    write({ 'a.txt': 'a' });
    expect(await isClean()).toBe(false);
    expect(await commit()).toMatchObject({ ok: true, output: { count: 1 } });
    expect(git('log', '--format=%s')).toBe('Do it (all), "quoted" $HOME');
    expect(await isClean()).toBe(true);
  });

  test('without a repository is a failure, not a fault', async () => {
    rmSync(join(folder, '.git'), { recursive: true });
    expect(await commit()).toMatchObject({ ok: false });
    expect(await isClean()).toBe(false);
  });
});

describe('a clean tree', () => {
  test('has no file changed, staged, new or missing', async () => {
    write({ 'a.txt': 'a', 'b.txt': 'b' });
    await commit();
    expect(await isClean()).toBe(true);
    for (const spoil of [
      () => write({ 'a.txt': 'changed' }),
      () => git('add', 'a.txt'),
      () => write({ 'new/deep.txt': '' }),
      () => rmSync(join(folder, 'b.txt')),
    ]) {
      spoil();
      expect(await isClean()).toBe(false);
    }
    expect((await runPrimitive('git-clean', {}, context)).output).toMatchObject({
      uncommitted: ['a.txt', 'b.txt', 'new/deep.txt'],
      count: 3,
    });
  });
});

describe('the shell recipes that the commit primitive replaces', () => {
  test.each([
    [
      'I-B02: an exclusion that git reads as magic',
      "git add -A -- . ':!__pycache__'",
      128,
      "Unimplemented pathspec magic '_'",
    ],
    ['I-B03: a path that is ignored', 'git add a.txt ignored', 1, 'paths are ignored'],
    ['I-B04: a parenthesis', 'git add (odd).txt', 2, 'yntax error'],
  ])('really fail: %s', async (_, text, exitCode, stderr) => {
    write({ '.gitignore': 'ignored\n', ignored: '', 'a.txt': '', '(odd).txt': '' });
    const runner = hostRunner({
      artifacts: memoryArtifacts(),
      folder: join(top, 'runner'),
      path,
      sandbox: noSandbox(path),
    });
    const result = await runner.run({ program: { kind: 'shell', text }, cwd: folder, timeoutMs: 20_000 });
    expect(result).toMatchObject({ status: 'exited', exitCode });
    expect(result.stderr.head).toContain(stderr);
    expect(await commit()).toMatchObject({ ok: true });
    expect(committed()).toEqual(['(odd).txt', '.gitignore', 'a.txt']);
  });
});
