import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { removeLeftovers } from './leftovers.ts';
import { removeFolder } from './remove-folder.ts';

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-leftovers-'));
});
afterEach(() => rmSync(top, { recursive: true }));

describe('what a process that was killed left behind', () => {
  test('is removed, read-only or not, and the folders around it stay', async () => {
    for (const name of ['runs/run-1/deep', 'copies/a']) mkdirSync(join(top, name), { recursive: true });
    writeFileSync(join(top, 'copies/a/file'), 'x');
    chmodSync(join(top, 'copies/a'), 0o555);
    const folders = ['runs', 'copies', 'never-made'].map((name) => join(top, name));
    expect(await removeLeftovers(folders)).toBe(0);
    expect(readdirSync(join(top, 'runs'))).toEqual([]);
    expect(readdirSync(join(top, 'copies'))).toEqual([]);
    expect(existsSync(join(top, 'never-made'))).toBe(false);
  });

  test('is told when it can not be removed or the time is over', async () => {
    writeFileSync(join(top, 'no-folder'), '');
    expect(await removeLeftovers([join(top, 'no-folder')])).toBe(0);
    for (const name of ['a', 'b']) mkdirSync(join(top, 'runs', name), { recursive: true });
    expect(await removeLeftovers([join(top, 'runs')], 0)).toBe(2);
    expect(readdirSync(join(top, 'runs'))).toEqual(['a', 'b']);
  });
});

describe('a folder in whose place a recipe put', () => {
  test('a link: the link goes, what it names stays as it is', async () => {
    const named = join(top, 'named');
    mkdirSync(named, { mode: 0o750 });
    writeFileSync(join(named, 'file'), 'x');
    symlinkSync(named, join(top, 'run'));
    await removeFolder(join(top, 'run'));
    expect(readdirSync(top)).toEqual(['named']);
    expect(readdirSync(named)).toEqual(['file']);
  });

  test('a file: it goes', async () => {
    writeFileSync(join(top, 'run'), 'x');
    await removeFolder(join(top, 'run'));
    await removeFolder(join(top, 'run'));
    expect(readdirSync(top)).toEqual([]);
  });
});
