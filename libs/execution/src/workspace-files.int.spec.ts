import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type WorkspaceFiles, workspaceFiles } from './workspace-files.ts';

const { signal } = new AbortController();

let outside: string;
let folder: string;
let files: WorkspaceFiles;
beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'files-'));
  folder = join(outside, 'workspace');
  mkdirSync(join(folder, 'src'), { recursive: true });
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(outside, 'secret'), 'sesame\n');
  writeFileSync(join(folder, '.git', 'config'), '[core]\n');
  writeFileSync(join(folder, 'src', 'a.txt'), 'one\ntwo\nthree\n');
  files = workspaceFiles(folder);
});
afterEach(() => rmSync(outside, { recursive: true, force: true }));

const all = (path: string) => [
  files.read(path, 1),
  files.write(path, 'broken'),
  files.list(path),
  files.search('sesame', path, signal),
];

describe('a path that leads out of the workspace is denied to every tool, and nothing is touched:', () => {
  const untouched = () => {
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('sesame\n');
    expect(readFileSync(join(folder, '.git', 'config'), 'utf8')).toBe('[core]\n');
  };

  test.each([
    '../secret',
    'src/../../secret',
    './../secret',
    'src/./../../secret',
    '/etc/passwd',
    '//etc/passwd',
    '.git/config',
    'src/.GIT/config',
    './/../secret',
    'src//a.txt',
    'a\0b',
  ])('%j', async (path) => {
    for (const answer of await Promise.all(all(path))) expect(answer).toMatchObject({ outcome: 'denied' });
    untouched();
  });

  test('an absolute path of the workspace itself', async () => {
    expect(await files.read(join(folder, 'src', 'a.txt'), 1)).toMatchObject({ outcome: 'denied' });
  });

  test.each([
    ['a link to a file', '../secret', 'leak'],
    ['a link to a folder', '..', 'leak/secret'],
    ['a link whose end is not there yet', '../made', 'leak'],
    ['a link to .git', '.git', 'leak/config'],
    ['a link that stays inside', 'src', 'leak/a.txt'],
  ])('%s', async (_, target, path) => {
    symlinkSync(target, join(folder, 'leak'));
    for (const answer of await Promise.all(all(path))) expect(answer).toMatchObject({ outcome: 'denied' });
    untouched();
    expect(readdirNames()).not.toContain('made');
  });

  test('a chain of links', async () => {
    symlinkSync('..', join(folder, 'first'));
    symlinkSync('../first', join(folder, 'src', 'second'));
    for (const answer of await Promise.all(all('src/second/secret')))
      expect(answer).toMatchObject({ outcome: 'denied' });
    untouched();
  });

  const readdirNames = () => execFileSync('ls', ['-A', outside], { encoding: 'utf8' }).split('\n');
});

test('neither listing nor searching goes through links or into .git', async () => {
  symlinkSync('../secret', join(folder, 'leak'));
  symlinkSync('..', join(folder, 'up'));
  expect(await files.list('.')).toEqual({ outcome: 'ok', text: 'leak@\nsrc/\nup@' });
  expect(await files.search('sesame', '.', signal)).toEqual({ outcome: 'ok', text: 'not found' });
  expect(await files.search('core', '.', signal)).toEqual({ outcome: 'ok', text: 'not found' });
});

describe('reading', () => {
  test('goes from a line on', async () => {
    expect(await files.read('./src/a.txt', 2)).toEqual({ outcome: 'ok', text: 'two\nthree\n' });
  });

  test('says where it was cut', async () => {
    writeFileSync(join(folder, 'long'), 'x'.repeat(40_000));
    const answer = await files.read('long', 1);
    expect(answer).toMatchObject({ outcome: 'ok', text: expect.stringContaining('cut: 1 lines, 40000 characters') });
  });

  test.each([
    ['nothing', 'gone', 'there is no file gone'],
    ['a folder', 'src', 'src is no file'],
  ])('fails for %s', async (_, path, problem) => {
    expect(await files.read(path, 1)).toEqual({ outcome: 'failed', problem });
  });

  test('never waits for a named pipe', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(await files.read('pipe', 1)).toEqual({ outcome: 'failed', problem: 'pipe is no file' });
    expect(await files.search('x', '.', signal)).toEqual({ outcome: 'ok', text: 'not found' });
  });
});

describe('writing', () => {
  test('makes the folders above, and keeps the permissions of what is there', async () => {
    expect(await files.write('a/b/c', 'new')).toEqual({ outcome: 'ok', text: 'wrote 3 bytes' });
    expect(readFileSync(join(folder, 'a', 'b', 'c'), 'utf8')).toBe('new');
    chmodSync(join(folder, 'a', 'b', 'c'), 0o750);
    await files.write('a/b/c', 'newer');
    expect(statSync(join(folder, 'a', 'b', 'c')).mode & 0o777).toBe(0o750);
  });

  test('fails where a folder is', async () => {
    expect(await files.write('src', 'x')).toMatchObject({ outcome: 'failed' });
    expect(await files.write('.', 'x')).toMatchObject({ outcome: 'failed' });
  });
});

test('searching finds lines below a folder and in a file', async () => {
  writeFileSync(join(folder, 'b.txt'), 'three\n');
  expect(await files.search('three', '.', signal)).toEqual({
    outcome: 'ok',
    text: 'b.txt:1: three\nsrc/a.txt:3: three',
  });
  expect(await files.search('t', 'src/a.txt', signal)).toMatchObject({ text: 'src/a.txt:2: two\nsrc/a.txt:3: three' });
  await expect(files.search('t', '.', AbortSignal.abort('late'))).rejects.toBe('late');
});
