import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Files, filesIn, type LandingPlace, landingPlace, lines } from './landing.fixture.ts';

const TEN = Array.from({ length: 10 }, (_, at) => `line ${at}`);
/** Ten lines, some of them others. */
const ten = (changed: Record<number, string> = {}): string => lines(...TEN.map((line, at) => changed[at] ?? line));

let place: LandingPlace;
let base: WorkspaceRef;

beforeEach(async () => {
  place = landingPlace({
    'a.txt': ten(),
    'b.txt': ten().replaceAll('line', 'row'),
    'bin.dat': Buffer.from([0, 1, 2, 3]),
    'run.sh': '#!/bin/sh\n',
    '.gitignore': 'cache/\n',
  });
  base = await place.start();
});

afterEach(() => place.close());

/** What comes of two changes of the same start. */
const merged = async (ours: Files, theirs: Files) => {
  const { ref, conflicts } = await place.merge(
    await place.committed(base, ours),
    await place.committed(base, theirs),
    base,
  );
  return { ref, conflicts, files: filesIn(await place.folderOf(ref)) };
};

describe('two workspaces that do not clash', () => {
  test('have the changes of both, and the commits of both', async () => {
    const ours = await place.committed(base, { 'a.txt': ten({ 1: 'ours' }) }, 'Ours');
    const theirs = await place.committed(base, { 'a.txt': ten({ 8: 'theirs' }), 'new.txt': 'n\n' }, 'Theirs');
    const { ref, conflicts } = await place.merge(ours, theirs, base);
    expect(conflicts).toEqual([]);
    const folder = await place.folderOf(ref);
    expect(filesIn(folder)).toMatchObject({ 'a.txt': ten({ 1: 'ours', 8: 'theirs' }), 'new.txt': 'n\n' });
    expect(place.git(folder, 'log', '--format=%s').split('\n').sort()).toEqual(['First', 'Merge t', 'Ours', 'Theirs']);
    expect(place.git(folder, 'rev-parse', 'HEAD^1', 'HEAD^2').split('\n')).toEqual([ours.head, theirs.head]);
    expect(place.git(folder, 'status', '--porcelain')).toBe('');
    expect(ref).toMatchObject({ source: base.source, base: base.base, commit: ref.head });
  });

  test('give the same commits when they are merged again, elsewhere', async () => {
    const ours = await place.committed(base, { 'a.txt': ten({ 1: 'ours' }) });
    const theirs = await place.uncommitted(base, { 'b.txt': 'b\n' });
    const first = await place.merge(ours, theirs, base);
    expect(await place.merge(ours, theirs, base)).toEqual(first);
  });

  test('are one of them when the other has nothing new', async () => {
    const more = await place.committed(base, { 'a.txt': 'more\n' });
    expect(await place.merge(more, base, base)).toEqual({ ref: more, conflicts: [] });
    expect(await place.merge(base, more, base)).toEqual({ ref: more, conflicts: [] });
    expect(await place.merge(more, more, null)).toEqual({ ref: more, conflicts: [] });
  });

  test('may have moved and changed the same file, one each', async () => {
    const theirs = await place.committed(base, { 'a.txt': ten({ 8: 'theirs' }) });
    const ours = await place.worked(base, (folder) => {
      mkdirSync(join(folder, 'moved'));
      place.git(folder, 'mv', 'a.txt', 'moved/a.txt');
      place.git(folder, 'commit', '-qm', 'Move');
    });
    for (const [one, other] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const { ref, conflicts } = await place.merge(one, other, base);
      expect(conflicts).toEqual([]);
      const files = filesIn(await place.folderOf(ref));
      expect(files['moved/a.txt']).toBe(ten({ 8: 'theirs' }));
      expect(files['a.txt']).toBeUndefined();
    }
  });

  test('keep what is deleted deleted, links links, and what is executable executable', async () => {
    const theirs = await place.worked(base, (folder) => {
      chmodSync(join(folder, 'run.sh'), 0o755);
      symlinkSync('nowhere', join(folder, 'link'));
      place.git(folder, 'rm', '-q', 'bin.dat');
      place.git(folder, 'add', '-A');
      place.git(folder, 'commit', '-qm', 'Modes');
    });
    const ours = await place.committed(base, { 'run.sh': '#!/bin/sh\ntrue\n' });
    const { ref, conflicts } = await place.merge(ours, theirs, base);
    expect(conflicts).toEqual([]);
    const files = filesIn(await place.folderOf(ref));
    expect(files).toMatchObject({ 'run.sh': '*#!/bin/sh\ntrue\n', link: '-> nowhere' });
    expect(files['bin.dat']).toBeUndefined();
  });

  test('keep lines that end with CR LF, and names that no shell likes', async () => {
    const odd: Files = { '-rf': 'a\n', 'line\nbreak': 'b\n', 'tab\t"quote"': 'c\n', 'grün/日本': 'd\n', '~x': 'e\n' };
    const { conflicts, files } = await merged(odd, { 'crlf.txt': 'one\r\ntwo\r\n' });
    expect(conflicts).toEqual([]);
    expect(files).toMatchObject({ ...odd, 'crlf.txt': 'one\r\ntwo\r\n' });
  });

  test('may have files that nobody has committed, on either side', async () => {
    const ours = await place.uncommitted(base, { 'ours.txt': 'o\n', 'a.txt': ten({ 1: 'ours' }) });
    const theirs = await place.committed(base, { 'a.txt': ten({ 8: 'theirs' }) });
    const { ref, conflicts } = await place.merge(ours, theirs, base);
    expect(conflicts).toEqual([]);
    const folder = await place.folderOf(ref);
    expect(filesIn(folder)).toMatchObject({ 'ours.txt': 'o\n', 'a.txt': ten({ 1: 'ours', 8: 'theirs' }) });
    expect(place.git(folder, 'rev-parse', 'HEAD')).toBe(theirs.head);
    expect(place.git(folder, 'status', '--porcelain').split('\n').sort()).toEqual(['?? ours.txt', 'M a.txt']);
  });
});

describe('two workspaces that clash', () => {
  test('ours wins in the hunk where they clash, and theirs stays everywhere else', async () => {
    const { conflicts, files } = await merged(
      { 'a.txt': ten({ 1: 'ours', 5: 'ours too' }) },
      { 'a.txt': ten({ 1: 'theirs', 8: 'theirs too' }), 'b.txt': 'theirs\n' },
    );
    expect(conflicts).toEqual(['a.txt']);
    expect(files['a.txt']).toBe(ten({ 1: 'ours', 5: 'ours too', 8: 'theirs too' }));
    expect(files['b.txt']).toBe('theirs\n');
  });

  test('what is binary is taken as one piece', async () => {
    const { conflicts, files } = await merged(
      { 'bin.dat': Buffer.from([0, 9]) },
      { 'bin.dat': Buffer.from([0, 8]), 'new.dat': Buffer.from([0]) },
    );
    expect(conflicts).toEqual(['bin.dat']);
    expect(files).toMatchObject({ 'bin.dat': '\0\t', 'new.dat': '\0' });
  });

  test('what one side deleted and the other changed is as our side has it', async () => {
    const deletedByUs = await merged({ 'a.txt': null }, { 'a.txt': ten({ 1: 'theirs' }) });
    expect(deletedByUs.conflicts).toEqual(['a.txt']);
    expect(deletedByUs.files['a.txt']).toBeUndefined();
    const deletedByThem = await merged({ 'a.txt': ten({ 1: 'ours' }) }, { 'a.txt': null });
    expect(deletedByThem.conflicts).toEqual(['a.txt']);
    expect(deletedByThem.files['a.txt']).toBe(ten({ 1: 'ours' }));
  });

  test('what both added under one name is ours where it differs', async () => {
    const { conflicts, files } = await merged({ 'new.txt': 'ours\n' }, { 'new.txt': 'theirs\n' });
    expect(conflicts).toEqual(['new.txt']);
    expect(files['new.txt']).toBe('ours\n');
  });

  test.each([
    [
      'a file of ours where they have a folder',
      { thing: 'file\n' },
      { 'thing/inner': 'x\n', other: 'o\n' },
      { thing: 'file\n', other: 'o\n' },
      ['thing/inner'],
    ],
    [
      'a folder of ours where they have a file',
      { 'thing/inner': 'x\n' },
      { thing: 'file\n', other: 'o\n' },
      { 'thing/inner': 'x\n', other: 'o\n' },
      ['thing'],
    ],
  ])('%s stays', async (_, ours, theirs, expected, clashing) => {
    const { conflicts, files } = await merged(ours, theirs);
    expect(conflicts).toEqual(clashing);
    expect(files).toMatchObject(expected);
    expect(Object.keys(files).filter((name) => name.startsWith('thing')).length).toBe(1);
  });

  test('a file that both moved elsewhere stays where we moved it, and where they did', async () => {
    const move = (to: string) => (folder: string) => {
      place.git(folder, 'mv', 'a.txt', to);
      place.git(folder, 'commit', '-qm', 'Move');
    };
    const { ref } = await place.merge(
      await place.worked(base, move('ours.txt')),
      await place.worked(base, move('theirs.txt')),
      base,
    );
    const files = filesIn(await place.folderOf(ref));
    expect(files).toMatchObject({ 'ours.txt': ten(), 'theirs.txt': ten() });
    expect(files['a.txt']).toBeUndefined();
  });

  test('a file that one side made a link of is as our side has it', async () => {
    const linked = await place.worked(base, (folder) => {
      place.write(folder, { 'a.txt': null });
      symlinkSync('b.txt', join(folder, 'a.txt'));
      place.git(folder, 'add', '-A');
      place.git(folder, 'commit', '-qm', 'Link');
    });
    const changed = await place.committed(base, { 'a.txt': ten({ 1: 'changed' }) });
    const linkWins = await place.merge(linked, changed, base);
    expect(linkWins.conflicts).toEqual(['a.txt']);
    expect(filesIn(await place.folderOf(linkWins.ref))['a.txt']).toBe('-> b.txt');
    const fileWins = await place.merge(changed, linked, base);
    expect(fileWins.conflicts).toEqual(['a.txt']);
    expect(filesIn(await place.folderOf(fileWins.ref))['a.txt']).toBe(ten({ 1: 'changed' }));
  });

  test('no marks of a conflict are left in any file', async () => {
    const { files } = await merged(
      { 'a.txt': ten({ 1: 'ours' }), 'b.txt': 'ours\n', x: null, 'new.txt': 'ours\n' },
      { 'a.txt': ten({ 1: 'theirs' }), 'b.txt': 'theirs\n', 'new.txt': 'theirs\n' },
    );
    expect(Object.values(files).filter((content) => /^(<{7}|={7}|>{7})/m.test(content))).toEqual([]);
  });

  test('the clash is over once the work has gone on from the merge, also when we have gone on', async () => {
    const ours = await place.committed(base, { 'a.txt': ten({ 1: 'ours' }) });
    const theirs = await place.committed(base, { 'a.txt': ten({ 1: 'theirs' }), 'b.txt': 'proved\n' });
    const { ref: start } = await place.merge(ours, theirs, base);
    const again = await place.committed(start, { 'a.txt': ten({ 1: 'both' }) });
    const meanwhile = await place.committed(ours, { 'c.txt': 'meanwhile\n' });
    for (const named of [ours, base, null]) {
      const { ref, conflicts } = await place.merge(meanwhile, again, named);
      expect(conflicts).toEqual([]);
      expect(filesIn(await place.folderOf(ref))).toMatchObject({
        ...{ 'a.txt': ten({ 1: 'both' }), 'b.txt': 'proved\n', 'c.txt': 'meanwhile\n' },
      });
    }
  });
});

describe('what only the task keeps', () => {
  test('is merged like all else', async () => {
    const ours = await place.uncommitted(base, { 'cache/ours': 'o\n' }, ['cache']);
    const theirs = await place.uncommitted(base, { 'cache/theirs': 't\n' }, ['cache']);
    const { ref, conflicts } = await place.merge(ours, theirs, base, ['cache']);
    expect(conflicts).toEqual([]);
    expect(filesIn(await place.folderOf(ref))).toMatchObject({ 'cache/ours': 'o\n', 'cache/theirs': 't\n' });
  });

  test('is ours where it differs, which is no conflict', async () => {
    const ours = await place.uncommitted(base, { 'cache/index': 'o\n' }, ['cache']);
    const theirs = await place.uncommitted(base, { 'cache/index': 't\n' }, ['cache']);
    expect((await place.merge(ours, theirs, base, [])).conflicts).toEqual(['cache/index']);
    const { ref, conflicts } = await place.merge(ours, theirs, base, ['./cache/']);
    expect(conflicts).toEqual([]);
    expect(filesIn(await place.folderOf(ref))['cache/index']).toBe('o\n');
  });
});

describe('a hostile repository', () => {
  test('has none of its drivers, filters and hooks run', async () => {
    const trap = join(place.top, 'trapped');
    const hostile = (folder: string): void => {
      for (const key of ['merge.evil.driver', 'filter.evil.clean', 'filter.evil.smudge', 'diff.evil.command']) {
        place.git(folder, 'config', key, `touch ${trap}`);
      }
      const hooks = join(folder, '.git', 'hooks');
      mkdirSync(hooks, { recursive: true });
      for (const name of ['post-merge', 'pre-merge-commit', 'post-index-change', 'reference-transaction']) {
        writeFileSync(join(hooks, name), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 });
      }
    };
    const attributes = { '.gitattributes': '*.txt merge=evil diff=evil\n' };
    const ours = await place.worked(base, (folder) => {
      place.write(folder, { ...attributes, 'a.txt': ten({ 1: 'ours' }) });
      hostile(folder);
    });
    const theirs = await place.worked(base, (folder) => {
      place.write(folder, { ...attributes, 'a.txt': ten({ 1: 'theirs' }) });
      hostile(folder);
    });
    expect((await place.merge(ours, theirs, base)).conflicts).toEqual(['a.txt']);
    expect(existsSync(trap)).toBe(false);
  });
});

test('a merge that is no longer wanted ends at once', async () => {
  const theirs = await place.committed(base, { 'a.txt': 'x\n' });
  const ours = await place.committed(base, { 'b.txt': 'x\n' });
  const request = { ours, theirs, base, keep: [], refName: 'refs/fixpoint/r/t/9', message: 'Merge' };
  await expect(place.workspaces.merge({ ...request, signal: AbortSignal.abort() })).rejects.toMatchObject({
    faultClass: 'workspace',
  });
});
