import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { memoryArtifacts } from './artifacts.fixture.ts';
import { gitWorkspaces } from './git-workspaces.ts';
import type { Workspaces } from './workspaces.ts';

const path = process.env.PATH ?? '/usr/bin:/bin';
let top: string;
let artifacts: ReturnType<typeof memoryArtifacts>;
let workspaces: Workspaces;
let source: { url: string; ref: string };

/** Git as a recipe would call it. */
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, env: { PATH: path, HOME: top, GIT_CONFIG_NOSYSTEM: '1' }, stdio: 'pipe' })
    .toString()
    .trim();

const write = (folder: string, files: Record<string, string>): void => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
};

const place = (name: string): string => join(top, name);

/** Another replica: same artifacts, nothing cached. */
const elsewhere = (name: string): Workspaces => gitWorkspaces({ root: place(name), artifacts, path });

const capture = { keep: [], refName: 'refs/fixpoint/root/task/1' };

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-workspaces-'));
  artifacts = memoryArtifacts();
  workspaces = gitWorkspaces({ root: place('cache'), artifacts, path });
  const url = place('source');
  mkdirSync(url);
  git(url, 'init', '-q', '-b', 'main', '.');
  git(url, 'config', 'user.name', 'Owner');
  git(url, 'config', 'user.email', 'owner@localhost');
  write(url, { 'README.md': 'hello\n', 'src/a.txt': 'a\n', '.gitignore': 'cache/\n*.log\n', 'run.sh': '#!/bin/sh\n' });
  git(url, 'add', '-A');
  git(url, 'update-index', '--chmod=+x', 'run.sh');
  git(url, 'commit', '-qm', 'First');
  source = { url, ref: 'main' };
});

afterEach(async () => {
  expect(existsSync(place('cache/scratch')) ? readdirSync(place('cache/scratch')) : []).toEqual([]);
  rmSync(top, { recursive: true });
});

const UNREACHABLE = { url: 'http://127.0.0.1:1/x.git', ref: 'main' };

describe('a source', () => {
  test('is its commit, by branch, full name, tag or id', async () => {
    const commit = git(source.url, 'rev-parse', 'HEAD');
    git(source.url, 'tag', '-a', 'v1', '-m', 'tagged');
    for (const ref of ['main', 'refs/heads/main', 'v1', 'refs/tags/v1', 'HEAD', commit]) {
      const resolved = await workspaces.resolve({ ...source, ref });
      expect(resolved).toMatchObject({ base: commit, head: commit, commit, bundle: null });
      expect(resolved.tree).toBe(git(source.url, 'rev-parse', 'HEAD^{tree}'));
    }
  });

  test('names the branch that is called so, and no other that ends alike', async () => {
    git(source.url, 'update-ref', 'refs/a/refs/heads/main', 'HEAD');
    git(source.url, 'commit', '-qm', 'Second', '--allow-empty');
    expect((await workspaces.resolve(source)).base).toBe(git(source.url, 'rev-parse', 'HEAD'));
  });

  test('of nothing is one and the same empty commit everywhere', async () => {
    const [here, there] = [await workspaces.resolve(null), await elsewhere('other').resolve(null)];
    expect(here).toEqual(there);
    expect(here).toMatchObject({ source: null, tree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' });
    await workspaces.materialise(here, place('w'));
    expect(readdirSync(place('w'))).toEqual(['.git']);
    expect(git(place('w'), 'status', '--porcelain')).toBe('');
  });

  test('is asked once for a commit, however many runs need it', async () => {
    const ref = await workspaces.resolve(source);
    rmSync(source.url, { recursive: true });
    await Promise.all([1, 2, 3].map((run) => workspaces.materialise(ref, place(`w${run}`))));
    expect(readFileSync(place('w3/README.md'), 'utf8')).toBe('hello\n');
  });

  test('may be mirrored by many at the same time', async () => {
    const refs = await Promise.all(
      Array.from({ length: 6 }, () => gitWorkspaces({ root: place('cache'), artifacts, path }).resolve(source)),
    );
    expect(new Set(refs.map(({ base }) => base)).size).toBe(1);
    expect(readdirSync(place('cache/mirrors'))).toHaveLength(1);
  });

  test('may be a shallow clone', async () => {
    git(source.url, 'commit', '-qm', 'Second', '--allow-empty');
    git(top, 'clone', '-q', '--depth', '1', `file://${source.url}`, place('shallow'));
    const ref = await workspaces.resolve({ url: place('shallow'), ref: 'main' });
    await workspaces.materialise(ref, place('w'));
    write(place('w'), { 'b.txt': 'b' });
    const captured = await workspaces.capture(place('w'), ref, capture);
    await workspaces.materialise(captured, place('w2'));
    expect(git(place('w2'), 'log', '--format=%s')).toBe('Second');
  });

  test('may belong to somebody else', async () => {
    // Only root can give files away.
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', '12345', source.url]);
    await workspaces.materialise(await workspaces.resolve(source), place('w'));
    expect(readFileSync(place('w/README.md'), 'utf8')).toBe('hello\n');
  });

  test('brings no hooks along', async () => {
    write(source.url, { '.git/hooks/post-checkout': '#!/bin/sh\ntouch "$PWD/hooked"\n' });
    execFileSync('chmod', ['+x', join(source.url, '.git/hooks/post-checkout')]);
    await workspaces.materialise(await workspaces.resolve(source), place('w'));
    git(place('w'), 'checkout', '-q', '-b', 'other');
    expect(existsSync(place('w/hooked'))).toBe(false);
  });

  test.each([
    ['is not there', { url: '/no/such/repo', ref: 'main' }, 'workspace', 'source_unreachable', null],
    ['cannot be reached', UNREACHABLE, 'network', 'source_unreachable', 'git.127.0.0.1'],
    ['is an option', { url: '--upload-pack=touch /tmp/x', ref: 'main' }, 'source', 'source_invalid', null],
    ['is relative', { url: './repo', ref: 'main' }, 'source', 'source_invalid', null],
    ['is a command', { url: 'ext::sh -c true', ref: 'main' }, 'source', 'source_invalid', null],
  ])('that %s is a fault, which names the host that was asked', async (_, bad, faultClass, code, provider) => {
    await expect(workspaces.resolve(bad)).rejects.toMatchObject({ name: 'WorkspaceFault', faultClass, code, provider });
  });

  test('without the ref is a fault, and a secret in its URL stays out of it', async () => {
    const unknown = workspaces.resolve({ ...source, ref: 'nope' });
    await expect(unknown).rejects.toMatchObject({ faultClass: 'source', code: 'ref_unknown' });
    const secret = workspaces.resolve({ url: 'http://me:hunter2@127.0.0.1:1/x.git', ref: 'main' });
    await expect(secret).rejects.toThrow(/^(?!.*hunter2)/s);
  });
});

describe('a captured folder', () => {
  const changed = async (change: (folder: string) => void, keep: readonly string[] = []) => {
    const ref = await workspaces.resolve(source);
    await workspaces.materialise(ref, place('w'));
    change(place('w'));
    const statusBefore = git(place('w'), 'status', '--porcelain', '--ignored');
    const captured = await workspaces.capture(place('w'), ref, { ...capture, keep });
    expect(git(place('w'), 'status', '--porcelain', '--ignored')).toBe(statusBefore);
    await elsewhere('other').materialise(captured, place('again'));
    return { ref, captured, folder: place('w'), again: place('again') };
  };

  test('without a change is the ref that it was made from', async () => {
    const { ref, captured, again } = await changed(() => undefined);
    expect(captured).toEqual(ref);
    expect(statSync(join(again, 'run.sh')).mode & 0o100).toBe(0o100);
  });

  test('has its uncommitted changes uncommitted elsewhere', async () => {
    const { captured, folder, again } = await changed((w) => {
      write(w, { 'src/a.txt': 'changed\n', 'new/b.txt': 'b\n', 'x.log': 'ignored' });
      rmSync(join(w, 'README.md'));
      symlinkSync('/etc', join(w, 'link'));
    });
    expect(git(again, 'status', '--porcelain')).toBe(git(folder, 'status', '--porcelain'));
    expect(readFileSync(join(again, 'src/a.txt'), 'utf8')).toBe('changed\n');
    expect(readlinkSync(join(again, 'link'))).toBe('/etc');
    expect(existsSync(join(again, 'x.log'))).toBe(false);
    expect(captured.head).not.toBe(captured.commit);
  });

  test('has the commits of its recipe, and what is dirty on top', async () => {
    const { captured, folder, again } = await changed((w) => {
      write(w, { 'b.txt': 'b\n' });
      git(w, 'add', '-A');
      git(w, 'commit', '-qm', 'By the recipe');
      write(w, { 'c.txt': 'c\n' });
    });
    expect(captured.head).toBe(git(folder, 'rev-parse', 'HEAD'));
    expect(git(again, 'log', '--format=%s')).toBe('By the recipe\nFirst');
    expect(git(again, 'status', '--porcelain')).toBe('?? c.txt');
  });

  test('that is clean after a commit is that commit', async () => {
    const { captured, again } = await changed((w) => git(w, 'commit', '-qm', 'Empty', '--allow-empty'));
    expect(captured.commit).toBe(captured.head);
    expect(git(again, 'log', '-1', '--format=%s %an')).toBe('Empty Fixpoint');
  });

  test('has staged what was staged', async () => {
    const { folder, again } = await changed((w) => {
      write(w, { 'src/a.txt': 'staged\n', 'b.txt': 'b\n' });
      git(w, 'add', 'src/a.txt');
      write(w, { 'src/a.txt': 'later\n' });
    });
    expect(git(again, 'status', '--porcelain')).toBe(git(folder, 'status', '--porcelain'));
    expect(git(again, 'diff', '--cached')).toContain('+staged');
  });

  test('has what is to be kept although ignored, and still ignores it', async () => {
    const files = { 'cache/deep/x': 'kept\n', 'y.log': 'kept\n', 'z.log': 'lost\n', '(odd) *.log': 'kept\n' };
    const keep = ['cache/deep', 'y.log', '(odd) *.log', 'not/there'];
    const { again } = await changed((w) => write(w, files), keep);
    expect(readFileSync(join(again, 'cache/deep/x'), 'utf8')).toBe('kept\n');
    expect(existsSync(join(again, '(odd) *.log'))).toBe(true);
    expect(existsSync(join(again, 'z.log'))).toBe(false);
    expect(git(again, 'status', '--porcelain')).toBe('');
  });

  test('still has a file of a run before that this one told git to ignore, unless it was removed', async () => {
    const { captured, again } = await changed((w) => write(w, { 'b.txt': 'b', 'c/d.txt': 'd', 'e/f.txt': 'f' }));
    write(again, { '.gitignore': '*\n', 'own.txt': 'ignored' });
    rmSync(join(again, 'c/d.txt'));
    rmSync(join(again, 'e'), { recursive: true });
    symlinkSync('/etc', join(again, 'e'));
    const second = await elsewhere('other').capture(again, captured, { ...capture, refName: 'refs/fixpoint/r/t/2' });
    await elsewhere('third').materialise(second, place('w3'));
    expect(readFileSync(join(place('w3'), 'b.txt'), 'utf8')).toBe('b');
    expect(['c/d.txt', 'own.txt', 'e'].map((name) => existsSync(join(place('w3'), name)))).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('of the same content is the same commit, whoever made it', async () => {
    const { captured } = await changed((w) => write(w, { 'b.txt': 'b' }));
    const other = elsewhere('third');
    await other.materialise({ ...captured, commit: captured.base, bundle: null }, place('w3'));
    write(place('w3'), { 'b.txt': 'b' });
    const ref = await other.resolve(source);
    expect(await other.capture(place('w3'), ref, capture)).toEqual(captured);
  });

  test('is captured again and again into one bundle from the base', async () => {
    const { captured, again } = await changed((w) => write(w, { 'b.txt': 'b' }));
    git(again, 'add', '-A');
    git(again, 'commit', '-qm', 'Second run');
    write(again, { 'c.txt': 'c' });
    const second = await elsewhere('other').capture(again, captured, { ...capture, refName: 'refs/fixpoint/r/t/2' });
    await elsewhere('third').materialise(second, place('w3'));
    expect(git(place('w3'), 'log', '--format=%s')).toBe('Second run\nFirst');
    expect(git(place('w3'), 'status', '--porcelain')).toBe('?? c.txt');
    expect(git(place('w3'), 'fsck', '--no-dangling')).toBe('');
  });

  test('has the files of repositories that the recipe made inside it', async () => {
    const { captured, again } = await changed((w) => {
      write(w, { 'unborn/ü.txt': 'u', 'cloned/inner/c.txt': 'c', 'cloned/.gitignore': '*.tmp\n', 'cloned/d.tmp': '' });
      for (const name of ['unborn', 'cloned', 'cloned/inner']) git(w, 'init', '-q', name);
      git(join(w, 'cloned'), '-c', 'user.name=a', '-c', 'user.email=a', 'commit', '-q', '-m', 'x', '--allow-empty');
    });
    expect(readFileSync(join(again, 'unborn/ü.txt'), 'utf8')).toBe('u');
    expect(readdirSync(join(again, 'cloned')).sort()).toEqual(['.gitignore', 'inner']);
    expect(readFileSync(join(again, 'cloned/inner/c.txt'), 'utf8')).toBe('c');
    expect(captured.commit).not.toBe(captured.head);
  });

  test('survives a recipe that reset, orphaned or removed the history', async () => {
    git(source.url, 'commit', '-qm', 'Second', '--allow-empty');
    const reset = await changed((w) => git(w, 'reset', '-q', '--hard', 'HEAD~1'));
    expect([reset.captured.bundle, git(reset.again, 'log', '--format=%s')]).toEqual([null, 'First']);
    for (const [name, spoil] of Object.entries({
      orphan: (w: string) => git(w, 'checkout', '-q', '--orphan', 'lost'),
      removed: (w: string) => rmSync(join(w, '.git'), { recursive: true }),
    })) {
      await workspaces.materialise(reset.ref, place(name));
      spoil(place(name));
      write(place(name), { 'b.txt': 'b' });
      const captured = await workspaces.capture(place(name), reset.ref, capture);
      expect(captured.head).toBe(reset.ref.head);
      await workspaces.materialise(captured, place(`${name}-again`));
      expect(readFileSync(place(`${name}-again/b.txt`), 'utf8')).toBe('b');
    }
  });

  test('runs nothing that the recipe left in the configuration', async () => {
    const ref = await workspaces.resolve(source);
    await workspaces.materialise(ref, place('w'));
    const trap = `touch ${place('trapped')}; cat`;
    git(place('w'), 'config', 'core.fsmonitor', trap);
    git(place('w'), 'config', 'filter.trap.clean', trap);
    write(place('w'), { '.gitattributes': '* filter=trap\n', '.git/hooks/post-index-change': `#!/bin/sh\n${trap}\n` });
    rmSync(place('trapped'), { force: true });
    await workspaces.capture(place('w'), ref, capture);
    expect(existsSync(place('trapped'))).toBe(false);
  });

  test('without a change since its last capture stores nothing', async () => {
    const { captured, again } = await changed((w) => write(w, { 'b.txt': 'b' }));
    const put = () => Promise.reject(new Error('nothing is to be stored'));
    const frugal = gitWorkspaces({ root: place('cache'), artifacts: { ...artifacts, put }, path });
    expect(await frugal.capture(again, captured, capture)).toEqual(captured);
  });

  test('is a fault of the disk when there is no space', async () => {
    const full = gitWorkspaces({ root: place('cache'), artifacts, path, leastFreeBytes: Number.MAX_SAFE_INTEGER });
    await expect(full.resolve({ ...source, ref: 'nope' })).rejects.toMatchObject({ faultClass: 'disk' });
  });

  test('is a fault when its bundle is lost', async () => {
    const { captured } = await changed((w) => write(w, { 'b.txt': 'b' }));
    const lost = gitWorkspaces({ root: place('cache'), artifacts: memoryArtifacts(), path });
    await expect(lost.materialise(captured, place('w9'))).rejects.toMatchObject({ code: 'artifact_missing' });
  });

  test('is not captured outside its names, nor with a path out of the folder', async () => {
    const ref = await workspaces.resolve(source);
    await workspaces.materialise(ref, place('w'));
    const badName = workspaces.capture(place('w'), ref, { keep: [], refName: 'refs/heads/main' });
    await expect(badName).rejects.toMatchObject({ code: 'ref_name_invalid' });
    const badKeep = workspaces.capture(place('w'), ref, { ...capture, keep: ['../source'] });
    await expect(badKeep).rejects.toMatchObject({ code: 'keep_invalid' });
  });
});
