import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Git } from '../git.ts';
import type { PrimitiveContext } from './primitive.ts';
import { knownPrimitives, primitives, runPrimitive } from './primitives.ts';

let top: string;
let context: PrimitiveContext;

const noGit: Git = {
  folder: '/nowhere',
  run: () => Promise.reject(new Error('no process here')),
  line: () => Promise.reject(new Error('no process here')),
  stream: () => {
    throw new Error('no process here');
  },
};

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-primitives-'));
  mkdirSync(join(top, 'w'));
  context = { folder: join(top, 'w'), scratch: new Map(), git: noGit, signal: new AbortController().signal };
});

afterEach(() => rmSync(top, { recursive: true }));

const isOk = async (name: string, parameters: unknown): Promise<boolean> =>
  (await runPrimitive(name, parameters, context)).ok;

describe('a counter', () => {
  test('is not where nobody counted it to, and is afterwards', async () => {
    expect(await isOk('counter-at', { value: 3 })).toBe(false);
    expect(await isOk('counter', { to: 3 })).toBe(true);
    expect(await isOk('counter-at', { value: 3 })).toBe(true);
    expect(await isOk('counter-at', { value: 2 })).toBe(false);
  });

  test('is one per name and per run', async () => {
    await isOk('counter', { name: 'a', to: 1 });
    expect(await isOk('counter-at', { name: 'b', value: 1 })).toBe(false);
    const otherRun = { ...context, scratch: new Map<string, number>() };
    expect((await runPrimitive('counter-at', { name: 'a', value: 1 }, otherRun)).ok).toBe(false);
  });

  test('never counts down', async () => {
    await isOk('counter', { to: 5 });
    expect(await isOk('counter', { to: 4 })).toBe(false);
    expect(await isOk('counter-at', { value: 5 })).toBe(true);
  });

  test('needs no folder, unlike everything that is not in process', async () => {
    expect((await runPrimitive('counter', { to: 1 }, { ...context, folder: null })).ok).toBe(true);
    const homeless = runPrimitive('file-matches', { path: 'f' }, { ...context, folder: null });
    await expect(homeless).rejects.toThrow('needs a folder');
  });

  test('says nothing once it was told to stop', async () => {
    const stopped = { ...context, signal: AbortSignal.abort() };
    await expect(runPrimitive('counter-at', { value: 0 }, stopped)).rejects.toThrow();
  });
});

describe('a written file', () => {
  test('is there with its folders, and is what its own check asks for', async () => {
    const asked = { path: 'a/b/c.txt', content: 'grün\n' };
    const check = primitives.get('file-write')?.postcondition(asked);
    expect(await isOk('file-matches', check?.with)).toBe(false);
    expect(await isOk('file-write', asked)).toBe(true);
    expect(readFileSync(join(top, 'w/a/b/c.txt'), 'utf8')).toBe('grün\n');
    expect(await isOk('file-matches', check?.with)).toBe(true);
  });

  test('replaces what was there', async () => {
    for (const content of ['longer than', 'this']) await isOk('file-write', { path: 'f', content });
    expect(readFileSync(join(top, 'w/f'), 'utf8')).toBe('this');
  });

  test('never leaves the workspace through a link', async () => {
    mkdirSync(join(top, 'outside'));
    writeFileSync(join(top, 'outside/f'), 'untouched');
    symlinkSync('../outside', join(top, 'w/folder'));
    symlinkSync('../outside/f', join(top, 'w/file'));
    for (const path of ['folder/f', 'file']) {
      expect(await isOk('file-write', { path, content: 'x' })).toBe(false);
      expect(await isOk('file-matches', { path })).toBe(false);
    }
    expect(readFileSync(join(top, 'outside/f'), 'utf8')).toBe('untouched');
  });

  test('where something is in the way is not written and says so', async () => {
    await isOk('file-write', { path: 'f', content: '' });
    mkdirSync(join(top, 'w/d'));
    for (const path of ['f/below', 'd']) {
      expect((await runPrimitive('file-write', { path, content: '' }, context)).detail).toContain('in the way');
    }
  });

  test.each(['/etc/x', '../x', 'a/../../x', '.git/config', 'a/.GIT/hooks/x', './x', 'a//b', 'a/', '', 'a\0b'])(
    'is never asked for at %j',
    (path) => {
      expect(knownPrimitives.problems('file-write', { path, content: '' })).not.toEqual([]);
    },
  );
});

describe('a file', () => {
  beforeEach(() => writeFileSync(join(top, 'w/f'), 'one\ntwo\n'));

  test.each([
    [{ path: 'f' }, true],
    [{ path: 'f', exists: false }, false],
    [{ path: 'g' }, false],
    [{ path: 'g', exists: false }, true],
    [{ path: 'f', equals: 'one\ntwo\n' }, true],
    [{ path: 'f', equals: 'one' }, false],
    [{ path: 'f', contains: 'two' }, true],
    [{ path: 'f', contains: 'three' }, false],
    [{ path: 'f', regex: '^one\\s+two\\s$' }, true],
    [{ path: 'f', regex: '^two' }, false],
    [{ path: 'f', contains: 'one', regex: 'three' }, false],
    [{ path: 'f', sha256: '0'.repeat(64) }, false],
  ])('asked for %j is %p', async (parameters, verdict) => {
    expect(await isOk('file-matches', parameters)).toBe(verdict);
  });

  test('that is a folder matches nothing', async () => {
    mkdirSync(join(top, 'w/d'));
    expect(await isOk('file-matches', { path: 'd' })).toBe(false);
  });

  test('whose pattern would take for ever does not match, and soon', async () => {
    writeFileSync(join(top, 'w/f'), `${'a'.repeat(40)}!`);
    const begun = performance.now();
    const { ok, detail } = await runPrimitive('file-matches', { path: 'f', regex: '^(a+)+$' }, context);
    expect([ok, detail]).toEqual([false, 'f could not be matched within 250 ms']);
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});

describe('the parameters of a primitive', () => {
  test.each([
    ['counter', {}],
    ['counter', { to: 0 }],
    ['counter', { to: 1, extra: true }],
    ['counter-at', { value: '1' }],
    ['commit', {}],
    ['commit', { message: ' \n' }],
    ['commit', { message: 'm', exclude: [':!x'] }],
    ['git-clean', { exclude: ['/'] }],
    ['file-matches', { path: 'f', regex: '(' }],
    ['no-such-thing', {}],
    ['git-branch', { name: 'a..b' }],
    ['git-branch', { name: '-d' }],
    ['git-branch', { name: 'a.lock/b' }],
    ['git-on-branch', { name: 'a b' }],
    ['git-apply-patch', {}],
    ['git-apply-patch', { patch: 'x', file: 'y' }],
    ['git-patch-applied', { file: '../x' }],
    ['line-in-file', { path: 'f', line: 'a\nb' }],
    ['line-in-file', { path: 'f', line: 'a', replaces: '(' }],
    ['json-normalise', { path: 'f', indent: 0 }],
    ['json-normalised', { path: '.git/x' }],
    ['json-set', { path: 'f', pointer: 'a', value: 1 }],
    ['json-set', { path: 'f', pointer: '/a~2', value: 1 }],
    ['json-set', { path: 'f', pointer: '/a' }],
    ['json-matches', { path: 'f', pointer: '', equals: 1 }],
    ['copy-tree', { from: 'a', to: 'a/b' }],
    ['copy-tree', { from: 'a', to: 'a' }],
    ['trees-equal', { from: 'a', to: '/b' }],
  ])('%s with %j is told to be wrong', (name, parameters) => {
    expect(knownPrimitives.problems(name, parameters)).not.toEqual([]);
  });

  test('that nobody gave are told as needed', () => {
    expect(knownPrimitives.problems('file-write', { path: 'x' })).toEqual(['with.content: it is needed']);
  });

  test('that are right have no problems, and every step but a check promises something', () => {
    expect(knownPrimitives.problems('commit', { message: 'm', exclude: ['go/', '/top', '*.tmp'] })).toEqual([]);
    const parameters = {
      counter: { to: 1 },
      commit: { message: 'm' },
      'git-branch': { name: 'topic/ä' },
      'git-apply-patch': { patch: 'p' },
      'file-write': { path: 'f', content: '' },
      'line-in-file': { path: 'f', line: 'l', replaces: '^l' },
      'json-normalise': { path: 'f' },
      'json-set': { path: 'f', pointer: '/a', value: null },
      'copy-tree': { from: 'a', to: 'b' },
    };
    for (const [name, given] of Object.entries(parameters)) {
      const promised = primitives.get(name)?.postcondition(given);
      expect(knownPrimitives.problems(promised?.primitive ?? '', promised?.with)).toEqual([]);
    }
    const steps = [...primitives.values()].filter(({ effects }) => effects).map(({ name }) => name);
    expect(steps.sort()).toEqual(Object.keys(parameters).sort());
  });
});
