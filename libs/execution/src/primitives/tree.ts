import { isUtf8 } from 'node:buffer';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** One thing below a folder. */
export type Entry =
  | { readonly kind: 'folder' }
  /** `mode`: permission bits. */
  | { readonly kind: 'file'; readonly bytes: number; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string };

/** By path below the folder, `/` between parts; a folder before what is in it. */
export type Tree = ReadonlyMap<string, Entry>;

/** Something below a folder that no copy can have. */
export class TreeProblem extends Error {
  override readonly name = 'TreeProblem';
}

const most = 200_000;

/**
 * Everything below a folder; `.git` at any depth is no part of it, and no link is followed.
 * @throws {TreeProblem} for pipes, sockets, devices, names that are not UTF-8, and more than 200000 things.
 */
export const readTree = async (folder: string, signal: AbortSignal): Promise<Tree> => {
  const tree = new Map<string, Entry>();
  const waiting = [''];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    signal.throwIfAborted();
    const entries = await entriesIn(folder, at);
    for (const [path, entry] of entries) tree.set(path, entry);
    if (tree.size > most) throw new TreeProblem(`more than ${most} files and folders`);
    waiting.push(...entries.filter(([, { kind }]) => kind === 'folder').map(([path]) => path));
  }
  return tree;
};

const entriesIn = async (folder: string, at: string): Promise<[string, Entry][]> => {
  const entries: [string, Entry][] = [];
  for (const name of await namesIn(join(folder, at))) {
    const path = at === '' ? name : `${at}/${name}`;
    entries.push([path, await entryAt(folder, path)]);
  }
  return entries;
};

const namesIn = async (folder: string): Promise<string[]> => {
  const names = await readdir(folder, { encoding: 'buffer' });
  const strange = names.find((name) => !isUtf8(name));
  if (strange !== undefined)
    throw new TreeProblem(`the name ${JSON.stringify(strange.toString('latin1'))} is not UTF-8`);
  return names
    .map((name) => name.toString('utf8'))
    .filter((name) => name.toLowerCase() !== '.git')
    .sort();
};

const entryAt = async (folder: string, path: string): Promise<Entry> => {
  const place = join(folder, path);
  const found = await lstat(place);
  if (found.isDirectory()) return { kind: 'folder' };
  if (found.isFile()) return { kind: 'file', bytes: found.size, mode: found.mode & 0o777 };
  if (found.isSymbolicLink()) return { kind: 'link', target: await readlink(place) };
  throw new TreeProblem(`${path} is neither file, folder nor link`);
};
