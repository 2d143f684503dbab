import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { CouncilDocument } from '@fixpoint/models/council-model';

/** Where decisions are recorded. */
const RECORDS = ['docs/adr', 'docs/decisions', 'docs/adrs', 'adr', 'decisions'];
const NOTES = ['', 'docs', 'notes', 'docs/notes'];
/** Pages that list others say nothing themselves. */
const INDEX = /^(?:readme|index|summary|toc|changelog|contents)\b/i;

const MOST_FILES = 300;
const MOST_BYTES = 64 * 1024;

interface Kind {
  readonly folders: readonly string[];
  readonly most: number;
  readonly characters: number;
}

const KINDS: readonly Kind[] = [
  { folders: RECORDS, most: 3, characters: 400 },
  { folders: NOTES, most: 5, characters: 220 },
];

/**
 * Decision records and notes of a workspace that mention one of these files, those that mention most first. Whatever can
 * not be read is passed over: a council without documents is still a council.
 */
export const relevantDocuments = async (folder: string, touched: readonly string[]): Promise<CouncilDocument[]> => {
  if (touched.length === 0) return [];
  const found: CouncilDocument[] = [];
  for (const kind of KINDS) found.push(...(await documentsOf(folder, kind, touched)));
  return found;
};

const documentsOf = async (folder: string, kind: Kind, touched: readonly string[]): Promise<CouncilDocument[]> => {
  const paths = (await Promise.all(kind.folders.map((name) => pagesIn(folder, name)))).flat().slice(0, MOST_FILES);
  const pages = await Promise.all(paths.map(async (path) => ({ path, text: await textOf(join(folder, path)) })));
  return pages
    .map(({ path, text }) => ({ path, text, mentions: mentionsIn(text, touched) }))
    .filter(({ mentions }) => mentions > 0)
    .sort((a, b) => b.mentions - a.mentions || (a.path < b.path ? -1 : 1))
    .slice(0, kind.most)
    .map(({ path, text }) => ({ path, text: text.trim().slice(0, kind.characters) }));
};

const pagesIn = async (folder: string, name: string): Promise<string[]> => {
  const entries = await readdir(join(folder, name), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md') && !INDEX.test(entry.name))
    .map((entry) => join(name, entry.name))
    .sort();
};

const textOf = async (file: string): Promise<string> => {
  const size = await stat(file).then(
    (about) => about.size,
    () => MOST_BYTES + 1,
  );
  return size > MOST_BYTES ? '' : readFile(file, 'utf8').catch(() => '');
};

/** A whole path says more than a name that other files may have, too. */
const mentionsIn = (text: string, touched: readonly string[]): number =>
  touched.reduce((sum, path) => sum + (text.includes(path) ? 2 : mentionsName(text, basename(path)) ? 1 : 0), 0);

const mentionsName = (text: string, name: string): boolean => name.length > 3 && text.includes(name);
