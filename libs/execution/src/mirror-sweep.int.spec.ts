import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { hostGit } from './git.ts';
import { sweepMirrors } from './mirror-sweep.ts';
import { hostMirrors } from './mirrors.ts';

// Real git on a busy machine.
jest.setTimeout(60_000);

const PATH = '/usr/local/bin:/usr/bin:/bin';
const DAY = 24 * 3_600_000;
const NO_BOUND = Number.MAX_SAFE_INTEGER;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mirrors-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const sh = (script: string): string =>
  execFileSync('sh', ['-ec', script], {
    cwd: folder,
    env: { PATH, HOME: folder },
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();

const AS_ME = 'git -c user.name=me -c user.email=me@example.com';

/** A repository with a commit per branch, each with 200 KB of its own. */
const sourceWith = (name: string, ...branches: readonly string[]) => {
  sh(`git init -q -b none ${name}`);
  const commits = branches.map((branch) =>
    sh(`cd ${name}; git checkout -q --orphan ${branch}; head -c 200000 /dev/urandom > f; git add f
        ${AS_ME} commit -q -m ${branch}; git rev-parse HEAD`),
  );
  return { source: { url: join(folder, name), ref: branches[0] ?? '' }, commits };
};

const world = () => {
  const root = join(folder, 'workspaces');
  const git = hostGit({ folder: join(folder, 'git'), path: PATH });
  const mirrors = hostMirrors(git, root);
  const names = (): string[] => readdirSync(join(root, 'mirrors')).sort();
  const troubles: unknown[] = [];
  const sweep = (bounds: { idleMs?: number; maxBytes?: number }, later = 0) =>
    sweepMirrors(
      { git, root, report: (error) => void troubles.push(error) },
      { idleMs: 7 * DAY, maxBytes: NO_BOUND, ...bounds },
      Date.now() + later,
    );
  return { root, git, mirrors, names, sweep, troubles };
};

const wantedAgo = (mirror: string, commit: string, ms: number): void => {
  const then = new Date(Date.now() - ms);
  utimesSync(join(mirror, 'uses', commit), then, then);
};

const kilobytes = (path: string): number => Number(sh(`du -sk '${path}' | cut -f1`));

describe('mirrors of sources', () => {
  test('go when nobody wanted anything of them for long, and are made again when they are wanted', async () => {
    const { mirrors, names, sweep } = world();
    const [old, young] = [sourceWith('old', 'main'), sourceWith('young', 'main')];
    const [lost, kept] = [
      await mirrors.holding(old.source, old.commits[0] ?? ''),
      await mirrors.holding(young.source, young.commits[0] ?? ''),
    ];
    await mirrors.empty();
    wantedAgo(lost, old.commits[0] ?? '', 8 * DAY);
    expect(await sweep({})).toEqual({ mirrors: 1, pins: 1 });
    expect([existsSync(lost), existsSync(kept)]).toEqual([false, true]);
    expect(names()).toHaveLength(2);
    expect(await mirrors.holding(old.source, old.commits[0] ?? '')).toBe(lost);
    expect(await sweep({})).toEqual({ mirrors: 0, pins: 0 });
  });

  test('let go of single commits, and of what only those reached', async () => {
    const { git, mirrors, sweep } = world();
    const { source, commits } = sourceWith('shop', 'main', 'other');
    const [main = '', other = ''] = commits;
    const mirror = await mirrors.holding(source, main);
    await mirrors.holding(source, other);
    const before = kilobytes(mirror);
    wantedAgo(mirror, other, 8 * DAY);
    sh(`find '${mirror}/objects' -type f -exec touch -d '3 hours ago' {} +`);
    expect(await sweep({})).toEqual({ mirrors: 0, pins: 1 });
    expect(kilobytes(mirror)).toBeLessThan(before - 150);
    expect(await git.line({ args: ['--git-dir', mirror, 'cat-file', '-t', main] })).toBe('commit');
    await mirrors.holding(source, other);
    expect(await git.line({ args: ['--git-dir', mirror, 'cat-file', '-t', other] })).toBe('commit');
  });

  test('that take too much go, the least recently used first, but never one that was wanted today', async () => {
    const { mirrors, sweep } = world();
    const held = [];
    for (const name of ['a', 'b', 'c']) {
      const { source, commits } = sourceWith(name, 'main');
      held.push({ mirror: await mirrors.holding(source, commits[0] ?? ''), commit: commits[0] ?? '' });
    }
    const [a, b, c] = held;
    if (!(a && b && c)) throw new Error('three were made');
    wantedAgo(a.mirror, a.commit, 2 * DAY);
    wantedAgo(b.mirror, b.commit, 3 * DAY);
    expect(await sweep({ maxBytes: 500_000 })).toMatchObject({ mirrors: 1 });
    expect(held.map(({ mirror }) => existsSync(mirror))).toEqual([true, false, true]);
    expect(await sweep({ maxBytes: 0 })).toMatchObject({ mirrors: 1 });
    expect(held.map(({ mirror }) => existsSync(mirror))).toEqual([false, false, true]);
  });

  test('keep no names of what a fetch brought, and none of what a crash left half made', async () => {
    const { root, mirrors, names, sweep } = world();
    const { source, commits } = sourceWith('shop', 'main');
    const mirror = await mirrors.holding(source, commits[0] ?? '');
    expect(sh(`git --git-dir '${mirror}' for-each-ref --format='%(refname)'`)).toBe(`refs/pins/${commits[0]}`);
    mkdirSync(join(root, 'mirrors', 'x.git.draft'));
    await sweep({}, DAY / 2);
    expect(names()).toContain('x.git.draft');
    await sweep({}, 2 * DAY);
    expect(names()).not.toContain('x.git.draft');
  });

  test('that git can not read stop no other', async () => {
    const { root, mirrors, sweep, troubles } = world();
    const { source, commits } = sourceWith('shop', 'main');
    const mirror = await mirrors.holding(source, commits[0] ?? '');
    wantedAgo(mirror, commits[0] ?? '', 8 * DAY);
    mkdirSync(join(root, 'mirrors', '0000.git'));
    expect(await sweep({})).toEqual({ mirrors: 1, pins: 1 });
    expect(troubles).toHaveLength(1);
  });

  test('of a release that noted no uses count as used now', async () => {
    const { mirrors, sweep } = world();
    const { source, commits } = sourceWith('shop', 'main');
    const mirror = await mirrors.holding(source, commits[0] ?? '');
    rmSync(join(mirror, 'uses'), { recursive: true });
    expect(await sweep({})).toEqual({ mirrors: 0, pins: 0 });
    expect(await sweep({}, 8 * DAY)).toEqual({ mirrors: 1, pins: 1 });
  });
});
