import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { hostGit } from '../git.ts';
import type { PrimitiveContext, PrimitiveResult } from './primitive.ts';
import { primitives, runPrimitive } from './primitives.ts';

const path = process.env.PATH ?? '/usr/bin:/bin';
let top: string;
let folder: string;
let context: PrimitiveContext;

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: folder, env: { PATH: path, HOME: top, GIT_CONFIG_NOSYSTEM: '1' }, stdio: 'pipe' })
    .toString()
    .replace(/\n$/, '');

const write = (files: Record<string, string>): void => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
};

const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

const commit = (files: Record<string, string>): string => {
  write(files);
  git('add', '-A');
  git('commit', '-qm', 'change');
  return git('rev-parse', 'HEAD');
};

type With = Readonly<Record<string, unknown>>;

const run = (name: string, parameters: With): Promise<PrimitiveResult> => runPrimitive(name, parameters, context);

const holds = async (name: string, parameters: With): Promise<boolean> => {
  const check = primitives.get(name)?.postcondition(parameters);
  return (await run(check?.primitive ?? '', check?.with ?? {})).ok;
};

const does = async (name: string, parameters: With): Promise<void> => {
  expect(await holds(name, parameters)).toBe(false);
  for (const time of ['the first time', 'again']) {
    expect([time, await run(name, parameters)]).toEqual([time, expect.objectContaining({ ok: true })]);
    expect([time, await holds(name, parameters)]).toEqual([time, true]);
  }
};

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-git-primitives-'));
  folder = join(top, 'w');
  mkdirSync(folder);
  git('init', '-q', '-b', 'main', '.');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.org');
  const { signal } = new AbortController();
  context = { folder, scratch: new Map(), git: hostGit({ folder: join(top, 'git'), path }), signal };
});
afterEach(() => rmSync(top, { recursive: true }));

describe('a branch', () => {
  const state = (): string => git('status', '--porcelain');

  test.each(['topic', 'fix/ä-😀', 'a=b,c+d%e'])(
    'called %j is made where the repository is, with all that is uncommitted',
    async (name) => {
      const head = commit({ 'a.txt': 'a' });
      write({ 'a.txt': 'changed', 'new.txt': 'new' });
      git('add', 'new.txt');
      const before = state();
      await does('git-branch', { name });
      expect([git('symbolic-ref', 'HEAD'), git('rev-parse', 'HEAD'), state()]).toEqual([
        `refs/heads/${name}`,
        head,
        before,
      ]);
    },
  );

  test('is made from a detached head, in the middle of nothing, and before the first commit', async () => {
    await does('git-branch', { name: 'first' });
    commit({ 'a.txt': 'a' });
    expect(git('log', '--format=%s', 'first')).toBe('change');
    git('checkout', '-q', '--detach');
    await does('git-branch', { name: 'second' });
    git('checkout', '-q', '--detach');
    await does('git-branch', { name: 'first' });
  });

  test('that is behind is brought up to date', async () => {
    commit({ 'a.txt': 'a' });
    git('branch', 'topic');
    const head = commit({ 'b.txt': 'b' });
    await does('git-branch', { name: 'topic' });
    expect(git('rev-parse', 'topic')).toBe(head);
  });

  test('with commits of its own is not moved', async () => {
    commit({ 'a.txt': 'a' });
    git('checkout', '-qb', 'topic');
    const topic = commit({ 'b.txt': 'b' });
    git('checkout', '-q', 'main');
    expect(await run('git-branch', { name: 'topic' })).toMatchObject({ ok: false, detail: /commits that are not/ });
    git('checkout', '-q', '--orphan', 'empty');
    expect(await run('git-branch', { name: 'topic' })).toMatchObject({ ok: false });
    expect([git('rev-parse', 'topic'), git('symbolic-ref', '--short', 'HEAD')]).toEqual([topic, 'empty']);
  });

  test('below another one, or without a repository, is refused in words', async () => {
    commit({ 'a.txt': 'a' });
    git('branch', 'a');
    expect(await run('git-branch', { name: 'a/b' })).toMatchObject({ ok: false, detail: /refs\/heads\/a/ });
    rmSync(join(folder, '.git'), { recursive: true });
    expect(await run('git-branch', { name: 'x' })).toMatchObject({ ok: false, detail: /no usable git repository/ });
  });

  test('runs no hook of the repository', async () => {
    commit({ 'a.txt': 'a' });
    write({
      '.git/hooks/reference-transaction': '#!/bin/sh\ntouch ran\n',
      '.git/hooks/post-checkout': '#!/bin/sh\ntouch ran\n',
    });
    for (const hook of ['reference-transaction', 'post-checkout']) chmodSync(join(folder, '.git/hooks', hook), 0o755);
    await does('git-branch', { name: 'topic' });
    expect([existsSync(join(folder, 'ran')), existsSync(join(folder, '.git/ran'))]).toEqual([false, false]);
  });
});

describe('a patch', () => {
  /** What `git diff` prints of a change, which is then undone. */
  const patchOf = (change: () => void): string => {
    change();
    git('add', '-A');
    const patch = git('diff', '--cached', '--binary', '--full-index');
    git('reset', '-q', '--hard');
    git('clean', '-qfd');
    return `${patch}\n`;
  };

  const CHANGE = (): void => {
    write({ 'a.txt': 'one\n2\nthree\n', 'new/ü 😀 "q".txt': 'new\n', bin: 'b\0\x01\n' });
    rmSync(join(folder, 'gone.txt'));
    chmodSync(join(folder, 'run.sh'), 0o755);
  };

  beforeEach(() => {
    commit({ 'a.txt': 'one\ntwo\nthree\n', 'gone.txt': 'x\n', 'run.sh': '#!/bin/sh\n', bin: 'b\0\n' });
  });

  test('changes, makes, removes and renames files, and is not applied twice', async () => {
    const patch = patchOf(CHANGE);
    await does('git-apply-patch', { patch });
    expect([read('a.txt'), read('new/ü 😀 "q".txt'), existsSync(join(folder, 'gone.txt'))]).toEqual([
      'one\n2\nthree\n',
      'new\n',
      false,
    ]);
    expect(git('diff', '--cached')).toBe('');
  });

  test('may lie in a file of the workspace, be a plain one, and have other prefixes', async () => {
    write({ 'fix.patch': '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n' });
    await does('git-apply-patch', { file: 'fix.patch', strip: 0 });
    expect(read('a.txt')).toBe('one\n2\nthree\n');
  });

  test('of which a crash left half is completed', async () => {
    const patch = patchOf(CHANGE);
    write({ 'a.txt': 'one\n2\nthree\n' });
    rmSync(join(folder, 'gone.txt'));
    await does('git-apply-patch', { patch });
    expect(read('new/ü 😀 "q".txt')).toBe('new\n');
  });

  test('that does not fit changes nothing, not even where it would', async () => {
    const patch = patchOf(CHANGE);
    write({ 'a.txt': 'one\nzwei\nthree\n' });
    expect(await run('git-apply-patch', { patch })).toMatchObject({ ok: false, detail: /does not apply/ });
    expect([
      existsSync(join(folder, 'new')),
      existsSync(join(folder, 'gone.txt')),
      await holds('git-apply-patch', { patch }),
    ]).toEqual([false, true, false]);
  });

  const making = (name: string): string =>
    `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n`;

  test.each([
    ['leaves the workspace', '../outside.txt'],
    ['reaches into .git', '.git/hooks/pre-commit'],
    ['reaches into .git of a folder', 'sub/.GIT/config'],
    ['goes through a link', 'link/outside.txt'],
  ])('that %s is refused', async (_, name) => {
    mkdirSync(join(top, 'outside'));
    symlinkSync('../outside', join(folder, 'link'));
    expect(await run('git-apply-patch', { patch: making(name) })).toMatchObject({ ok: false });
    for (const place of ['outside.txt', 'outside/outside.txt', 'w/.git/hooks/pre-commit', 'w/sub/.GIT/config']) {
      expect([place, existsSync(join(top, place))]).toEqual([place, false]);
    }
  });

  test('that makes a link and then writes through it is refused', async () => {
    const link =
      'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+..\n\\ No newline at end of file\n';
    expect(await run('git-apply-patch', { patch: link + making('l/outside.txt') })).toMatchObject({ ok: false });
    expect(existsSync(join(top, 'outside.txt'))).toBe(false);
  });

  test('that is none, or lies nowhere, is told so', async () => {
    expect(await run('git-apply-patch', { patch: 'hello\n' })).toMatchObject({ ok: false });
    expect(await run('git-apply-patch', { file: 'none.patch' })).toMatchObject({ detail: 'none.patch does not exist' });
    expect(await run('git-patch-applied', { patch: 'hello\n' })).toMatchObject({ ok: false });
    rmSync(join(folder, '.git'), { recursive: true });
    expect(await run('git-apply-patch', { patch: making('x') })).toMatchObject({ detail: /no usable git repository/ });
  });

  test('starts no program that the repository names', async () => {
    write({ '.gitattributes': '* filter=evil\n' });
    git('config', 'filter.evil.smudge', 'touch ran; cat');
    git('config', 'filter.evil.clean', 'touch ran; cat');
    await does('git-apply-patch', { patch: making('x.txt') });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});
