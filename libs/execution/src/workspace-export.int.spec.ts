import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { memoryArtifacts } from './artifacts.fixture.ts';
import { gitWorkspaces } from './git-workspaces.ts';
import type { Workspaces } from './workspaces.ts';

const path = process.env.PATH ?? '/usr/bin:/bin';
const artifacts = memoryArtifacts();
let top: string;
let workspaces: Workspaces;
let start: WorkspaceRef;
let end: WorkspaceRef;

const place = (name: string): string => join(top, name);

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, env: { PATH: path, HOME: top, GIT_CONFIG_NOSYSTEM: '1' }, stdio: 'pipe' })
    .toString()
    .trim();

beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-export-'));
  workspaces = gitWorkspaces({ root: place('cache'), artifacts, path });
  start = await workspaces.resolve(null);
  await workspaces.materialise(start, place('w'));
  mkdirSync(place('w/dir'));
  writeFileSync(place('w/dir/a.txt'), 'a\n');
  git(place('w'), 'add', '-A');
  git(place('w'), 'commit', '-qm', 'Made');
  writeFileSync(place('w/binary'), Buffer.from([0, 255, 1]));
  symlinkSync('../../outside', place('w/dir/link'));
  end = await workspaces.capture(place('w'), start, { keep: [], refName: 'refs/fixpoint/r/t/1' });
});

afterEach(async () => {
  await workspaces.remove(top);
});

describe('a diff', () => {
  test('lists the files and applies to where it began', async () => {
    const { files, patch } = await workspaces.diff(start, end);
    expect(files).toEqual([
      { path: 'binary', change: 'added' },
      { path: 'dir/a.txt', change: 'added' },
      { path: 'dir/link', change: 'added' },
    ]);
    await workspaces.materialise(start, place('patched'));
    writeFileSync(place('the.patch'), artifacts.bytesOf(patch?.hash ?? null));
    git(place('patched'), 'apply', place('the.patch'));
    expect(readFileSync(place('patched/binary'))).toEqual(Buffer.from([0, 255, 1]));
  });

  test('is told by kind of change, and the other way round', async () => {
    expect((await workspaces.diff(end, start)).files.map(({ change }) => change)).toEqual([
      'deleted',
      'deleted',
      'deleted',
    ]);
    rmSync(place('w/dir/a.txt'));
    symlinkSync('binary', place('w/dir/a.txt'));
    writeFileSync(place('w/binary'), 'now text');
    const later = await workspaces.capture(place('w'), end, { keep: [], refName: 'refs/fixpoint/r/t/2' });
    expect((await workspaces.diff(end, later)).files).toEqual([
      { path: 'binary', change: 'modified' },
      { path: 'dir/a.txt', change: 'typed' },
    ]);
  });

  test('of equal trees is nothing', async () => {
    expect(await workspaces.diff(end, end)).toEqual({ patch: null, files: [] });
  });
});

describe('an exported result', () => {
  test('is a repository that needs the cache no more', async () => {
    await workspaces.export(end, place('result'));
    await workspaces.remove(place('cache'));
    expect(git(place('result'), 'log', '--format=%s')).toBe('Made\nEmpty workspace');
    expect(git(place('result'), 'status', '--porcelain')).toBe('?? binary\n?? dir/link');
    expect(git(place('result'), 'fsck', '--full', '--no-dangling')).toBe('');
  });

  test('never overwrites what is in the folder', async () => {
    await expect(workspaces.export(end, place('w'))).rejects.toMatchObject({ code: 'folder_not_empty' });
  });
});

describe('a read-only copy', () => {
  test('gives no right to write, follows no link, and can be removed', async () => {
    writeFileSync(place('outside'), 'x', { mode: 0o600 });
    await workspaces.materialise(end, place('copy'), 'read_only');
    for (const name of ['copy', 'copy/dir', 'copy/dir/a.txt', 'copy/.git']) {
      expect(statSync(place(name)).mode & 0o222).toBe(0);
    }
    expect(statSync(place('outside')).mode & 0o777).toBe(0o600);
    expect(git(place('copy'), 'status', '--porcelain')).toBe('?? binary\n?? dir/link');
    await workspaces.remove(place('copy'));
    expect(existsSync(place('copy'))).toBe(false);
  });
});
