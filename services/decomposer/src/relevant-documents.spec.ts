import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { relevantDocuments } from './relevant-documents.ts';

let folder: string;

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'documents-'));
  write('docs/adr/0001-store.md', `src/store.ts is the only door. src/index.ts opens it. ${'x'.repeat(1000)}`);
  write('docs/adr/0002-names.md', 'Names in store.ts are short.');
  write('docs/adr/0003-other.md', 'About something else.');
  write('docs/adr/0004-more.md', 'src/store.ts');
  write('docs/adr/0005-most.md', 'src/store.ts, src/index.ts and index.ts');
  write('docs/adr/index.md', 'src/store.ts src/index.ts');
  write('README.md', 'src/store.ts src/index.ts');
  for (const at of [1, 2, 3, 4, 5, 6]) write(`notes/note-${at}.md`, `${at}: src/store.ts ${'y'.repeat(500)}`);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('documents of a workspace for the council', () => {
  test('H-T66 are the records and notes that mention a touched file, ranked and bounded, and no page that only lists', async () => {
    const found = await relevantDocuments(folder, ['src/store.ts', 'src/index.ts']);
    expect(found.map(({ path }) => path)).toEqual([
      'docs/adr/0001-store.md',
      'docs/adr/0005-most.md',
      'docs/adr/0004-more.md',
      ...[1, 2, 3, 4, 5].map((at) => `notes/note-${at}.md`),
    ]);
    expect(found[0]?.text).toHaveLength(400);
    expect(found[3]?.text).toHaveLength(220);
  });

  test('H-T60 are none for files that nobody mentions, for no files, and in a folder without any', async () => {
    expect(await relevantDocuments(folder, ['lib/unknown.rs'])).toEqual([]);
    expect(await relevantDocuments(folder, [])).toEqual([]);
    expect(await relevantDocuments(join(folder, 'nowhere'), ['src/store.ts'])).toEqual([]);
  });
});
