import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Git } from '../git.ts';
import type { PrimitiveContext, PrimitiveResult } from './primitive.ts';
import { primitives, runPrimitive } from './primitives.ts';

let top: string;
let folder: string;
let context: PrimitiveContext;

const noGit = {} as Git;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-file-primitives-'));
  folder = join(top, 'w');
  mkdirSync(folder);
  context = { folder, scratch: new Map(), git: noGit, signal: new AbortController().signal };
});
afterEach(() => rmSync(top, { recursive: true }));

const at = (path: string): string => join(folder, path);

const write = (files: Record<string, string | Uint8Array>): void => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
  }
};

const read = (path: string): string => readFileSync(at(path), 'utf8');

type With = Readonly<Record<string, unknown>>;

const run = (name: string, parameters: With): Promise<PrimitiveResult> => runPrimitive(name, parameters, context);

const holds = async (name: string, parameters: With): Promise<boolean> => {
  const check = primitives.get(name)?.postcondition(parameters);
  return (await run(check?.primitive ?? '', check?.with ?? {})).ok;
};

/** Runs a step whose check does not hold before, holds after, and whose second run changes nothing. */
const does = async (name: string, parameters: With): Promise<void> => {
  expect([name, await holds(name, parameters)]).toEqual([name, false]);
  expect(await run(name, parameters)).toMatchObject({ ok: true });
  expect([name, await holds(name, parameters)]).toEqual([name, true]);
  const before = snapshot();
  expect(await run(name, parameters)).toMatchObject({ ok: true });
  expect(snapshot()).toEqual(before);
};

/** Runs a step that must change nothing and say why. */
const refuses = async (name: string, parameters: With, why: string): Promise<void> => {
  const before = snapshot();
  expect(await run(name, parameters)).toEqual({ ok: false, output: null, detail: expect.stringContaining(why) });
  expect(snapshot()).toEqual(before);
  expect(await holds(name, parameters)).toBe(false);
};

/** Everything in the folder: inode and content of each file. */
const snapshot = (): string[] =>
  readdirSync(top, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      if (entry.isSymbolicLink()) return `${path} -> ${readlinkSync(path)}`;
      return entry.isFile() ? `${path} ${statSync(path).ino} ${readFileSync(path, 'latin1')}` : path;
    })
    .sort();

const HOSTILE = ['ü/ñ\u0301 😀.json', ' -rf *$(x)`y`;"\'.json', 'a\nb\\c.json', '...json'];

describe('a JSON file that is normalised', () => {
  test('has one form and says what it said', async () => {
    write({ 'a.json': '\uFEFF{"b":[1,2.50,{}],\r\n\t"a":"\\u00fc\\/"}\r\n\r\n' });
    await does('json-normalise', { path: 'a.json' });
    expect(read('a.json')).toBe('{\n  "b": [\n    1,\n    2.50,\n    {}\n  ],\n  "a": "ü/"\n}\n');
    await does('json-normalise', { path: 'a.json', indent: 4, sort_keys: true });
    expect(read('a.json')).toBe('{\n    "a": "ü/",\n    "b": [\n        1,\n        2.50,\n        {}\n    ]\n}\n');
  });

  test.each(HOSTILE)('may be called %j', async (path) => {
    write({ [path]: '[1]' });
    await does('json-normalise', { path });
  });

  test('keeps its rights, and a second name for it keeps the old one', async () => {
    write({ 'a.json': '[1]' });
    chmodSync(at('a.json'), 0o750);
    linkSync(at('a.json'), at('b.json'));
    await does('json-normalise', { path: 'a.json' });
    expect([statSync(at('a.json')).mode & 0o777, read('b.json')]).toEqual([0o750, '[1]']);
  });

  test.each([
    ['that does not exist', 'none.json', 'does not exist'],
    ['that is no JSON', 'bad.json', 'line 1, column 5'],
    ['that says two things', 'twice.json', 'comes twice'],
    ['that is a folder', 'd', 'is no file'],
    ['behind a link', 'out/secret.json', 'the link out'],
    ['that is a link', 'link.json', 'the link link.json'],
    ['in another encoding', 'latin1.json', 'not UTF-8'],
    ['that is too long', 'huge.json', 'is longer than'],
  ])('%s is told so and stays', async (_, path, why) => {
    mkdirSync(join(top, 'outside'));
    writeFileSync(join(top, 'outside/secret.json'), '[1]');
    symlinkSync('../outside', at('out'));
    symlinkSync('../outside/secret.json', at('link.json'));
    write({
      'bad.json': '[1, ]',
      'twice.json': '{"a":1,"a":2}',
      'd/x': '',
      'latin1.json': Buffer.from([0x22, 0xfc, 0x22]),
    });
    write({ 'huge.json': Buffer.alloc(16 * 1024 * 1024 + 1, ' ') });
    await refuses('json-normalise', { path }, why);
  });
});

describe('a value that is set in a JSON file', () => {
  const PACKAGE =
    '{\n\t"name": "x",  "odd": [1,2],\n\t"scripts": {\n\t\t"build": "a"\n\t},\n\t"big": 12345678901234567890\n}\n';

  test.each<[string, unknown, string]>([
    ['/scripts/build', 'b "c"', PACKAGE.replace('"a"', '"b \\"c\\""')],
    ['/scripts/test', 'jest', PACKAGE.replace('"a"\n', '"a",\n\t\t"test": "jest"\n')],
    ['/odd/1', 3, PACKAGE.replace('[1,2]', '[1,3]')],
    ['/odd', [], PACKAGE.replace('[1,2]', '[]')],
    ['/engines/node', '>=24', PACKAGE.replace('890\n}', '890,\n\t"engines": {\n\t\t"node": ">=24"\n\t}\n}')],
    ['/a~1b~0', null, PACKAGE.replace('890\n}', '890,\n\t"a/b~": null\n}')],
    ['/__proto__/x', 1, PACKAGE.replace('890\n}', '890,\n\t"__proto__": {\n\t\t"x": 1\n\t}\n}')],
    ['/big', 1, PACKAGE.replace('12345678901234567890', '1')],
  ])('at %s changes nothing else', async (pointer, value, expected) => {
    write({ 'package.json': PACKAGE });
    await does('json-set', { path: 'package.json', pointer, value });
    expect(read('package.json')).toBe(expected);
  });

  test.each([
    ['in one line', '{"a": 1}', '{"a": 1, "b": {"c":[2]}}'],
    ['in an empty object', '{}', '{\n  "b": {\n    "c": [\n      2\n    ]\n  }\n}'],
    [
      'behind a mark of byte order and with CRLF',
      '\uFEFF{\r\n  "a": 1\r\n}\r\n',
      '\uFEFF{\r\n  "a": 1,\r\n  "b": {\r\n    "c": [\r\n      2\r\n    ]\r\n  }\r\n}\r\n',
    ],
  ])('%s is written as its neighbours are', async (_, text, expected) => {
    write({ 'a.json': text });
    await does('json-set', { path: 'a.json', pointer: '/b', value: { c: [2] } });
    expect(read('a.json')).toBe(expected);
  });

  test('and is there already, however it is written, is not written again', async () => {
    write({ 'a.json': '{"a": {"y":1.0e0,  "x":"\\u0061"}}' });
    const before = snapshot();
    expect(await run('json-set', { path: 'a.json', pointer: '/a', value: { x: 'a', y: 1 } })).toMatchObject({
      ok: true,
      output: { changed: false },
    });
    expect(snapshot()).toEqual(before);
  });

  test('is not there when only a part of its digits fits', async () => {
    write({ 'a.json': '{"a": 9007199254740993}' });
    const check = { path: 'a.json', pointer: '/a', equals: 9007199254740992 };
    expect((await run('json-matches', check)).ok).toBe(false);
  });

  test.each([
    ['/odd/2', 'there is no "2" in the array'],
    ['/odd/-', 'there is no "-" in the array'],
    ['/odd/01', 'there is no "01" in the array'],
    ['/name/x', 'there is no "x" in the string'],
  ])('at %s can not be', async (pointer, why) => {
    write({ 'package.json': PACKAGE });
    await refuses('json-set', { path: 'package.json', pointer, value: 1 }, why);
  });

  test.each(HOSTILE)('may be in a file called %j', async (path) => {
    write({ [path]: '{}' });
    await does('json-set', { path, pointer: '/😀', value: '\u0000 ü' });
    expect(JSON.parse(read(path))).toEqual({ '😀': '\u0000 ü' });
  });
});

describe('a line that a file should have', () => {
  const VERSION = { path: 'f', line: 'version=2', replaces: '^version=' };

  test.each<[string, With, string | null, string]>([
    ['is added at the end', { path: 'f', line: 'b' }, 'a\n', 'a\nb\n'],
    ['is added after a line without end', { path: 'f', line: 'b' }, 'a', 'a\nb\n'],
    ['makes the file', { path: 'd/f', line: 'b' }, null, 'b\n'],
    ['takes the place of its older form', VERSION, 'a\nversion=1\nb\n', 'a\nversion=2\nb\n'],
    ['takes the place of the first and removes the rest', VERSION, 'version=1\na\nversion=0', 'version=2\na'],
    ['stays where it is, and older forms go', VERSION, 'version=1\nversion=2\n', 'version=2\n'],
    ['ends as the others do', { path: 'f', line: 'b' }, 'a\r\nc\r\n', 'a\r\nc\r\nb\r\n'],
    ['may be empty', { path: 'f', line: '' }, 'a\n', 'a\n\n'],
    ['is not a part of another one', { path: 'f', line: 'b' }, 'ab\nbc\n', 'ab\nbc\nb\n'],
    ['may hold anything but a line end', { path: 'f', line: '$& \\1 $(x) ü😀\t' }, '', '$& \\1 $(x) ü😀\t\n'],
  ])('%s', async (_, parameters, text, expected) => {
    if (text !== null) write({ f: text });
    await does('line-in-file', parameters);
    expect(read(String(parameters.path))).toBe(expected);
  });

  test('is not put anywhere when the pattern takes for ever, or the file is none', async () => {
    write({ f: `${'a'.repeat(40)}!\n`, 'd/x': '' });
    await refuses('line-in-file', { path: 'f', line: 'b', replaces: '^(a+)+$' }, 'could not be matched within 250 ms');
    await refuses('line-in-file', { path: 'd', line: 'b' }, 'is no file');
    await refuses('line-in-file', { path: 'f/x', line: 'b' }, 'in the way');
  });
});

describe('a folder that is copied', () => {
  const copy = (more: With = {}): With => ({ from: 'src', to: 'out/copy', ...more });

  test('has the same content, bits, links and empty folders; what is the same is not touched', async () => {
    write({ 'src/a/b.txt': 'b', 'src/run.sh': '#!/bin/sh\n', 'src/ü 😀\n.txt': '', 'src/.git/config': 'x' });
    write({ 'src/big.bin': Buffer.alloc(20 * 1024 * 1024, 7) });
    chmodSync(at('src/run.sh'), 0o755);
    mkdirSync(at('src/empty'));
    symlinkSync('a/b.txt', at('src/link'));
    await does('copy-tree', copy());
    expect([readlinkSync(at('out/copy/link')), statSync(at('out/copy/run.sh')).mode & 0o777]).toEqual([
      'a/b.txt',
      0o755,
    ]);
    expect([existsSync(at('out/copy/empty')), existsSync(at('out/copy/.git'))]).toEqual([true, false]);

    utimesSync(at('out/copy/a/b.txt'), 1, 1);
    write({ 'src/a/c.txt': 'c' });
    await does('copy-tree', copy());
    expect(statSync(at('out/copy/a/b.txt')).mtimeMs).toBe(1000);
    chmodSync(at('src/run.sh'), 0o644);
    await does('copy-tree', copy());
  });

  test('keeps what only the copy has, unless told otherwise', async () => {
    write({ 'src/a.txt': 'a', 'out/copy/old/deep/x': '', 'out/copy/a.txt': 'changed' });
    await does('copy-tree', copy());
    expect(existsSync(at('out/copy/old/deep/x'))).toBe(true);
    await does('copy-tree', copy({ delete: true }));
    expect(readdirSync(at('out/copy'))).toEqual(['a.txt']);
  });

  test('removes no repository that lies in the copy', async () => {
    write({ 'src/a.txt': 'a', 'out/copy/inner/.git/HEAD': 'x' });
    expect(await run('copy-tree', copy({ delete: true }))).toMatchObject({ ok: false });
    expect(existsSync(at('out/copy/inner/.git/HEAD'))).toBe(true);
  });

  test.each(['/etc/passwd', '../../../outside', '../../../../etc'])(
    'is not when a link in it leads to %s',
    async (target) => {
      write({ 'src/a.txt': 'a', 'src/deep/x': '' });
      symlinkSync(target, at('src/deep/link'));
      await refuses('copy-tree', { from: 'src', to: 'copy' }, 'deep/link is a link that would lead out');
    },
  );

  test('is not through a link, on either side', async () => {
    write({ 'src/a.txt': 'a' });
    mkdirSync(join(top, 'outside/copy'), { recursive: true });
    symlinkSync('../outside', at('out'));
    await refuses('copy-tree', copy(), 'out is a link');
    await refuses('copy-tree', { from: 'out', to: 'in' }, 'out is a link');
    mkdirSync(at('copy'));
    symlinkSync('../../outside', at('copy/sub'));
    write({ 'src/sub/x': '' });
    await refuses('copy-tree', { from: 'src', to: 'copy' }, 'something is in the way of copy/sub');
  });

  test('is not when it holds a pipe or a name that nobody can write down', async () => {
    write({ 'src/a.txt': 'a' });
    execFileSync('mkfifo', [at('src/pipe')]);
    await refuses('copy-tree', copy(), 'pipe is neither file, folder nor link');
    rmSync(at('src/pipe'));
    writeFileSync(Buffer.concat([Buffer.from(at('src/')), Buffer.from([0xff])]), '');
    expect((await run('copy-tree', copy())).detail).toContain('is not UTF-8');
  });

  test.each([
    ['a file where a folder goes', { 'src/a/b': '', 'out/copy/a': '' }, 'something is in the way of out/copy/a'],
    ['a folder where a file goes', { 'src/a': '', 'out/copy/a/b': '' }, 'something is in the way of out/copy/a'],
    ['a file where the copy goes', { 'src/a': '', 'out/copy': '' }, 'something is in the way of out/copy'],
    ['a file above it', { 'src/a': '', out: '' }, 'something is in the way of out/copy'],
    ['a file that is to be copied', { src: '' }, 'src is no folder'],
    ['nothing', {}, 'src is no folder'],
  ])('stops before anything is changed at %s', async (_, files, why) => {
    write(files);
    await refuses('copy-tree', copy(), why);
  });

  test('of nothing is a folder', async () => {
    mkdirSync(at('src'));
    await does('copy-tree', copy());
  });

  test('stops where it is when it is told to', async () => {
    write({ 'src/a.txt': 'a' });
    const stopped = new AbortController();
    const working = runPrimitive('copy-tree', copy(), { ...context, signal: stopped.signal });
    stopped.abort();
    await expect(working).rejects.toThrow('aborted');
  });
});
