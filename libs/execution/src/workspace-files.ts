import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from './primitives/atomic-file.ts';
import { linkIn, workspacePath } from './primitives/inside.ts';
import { readWorkspaceText } from './primitives/workspace-text.ts';
import { systemErrorOf } from './system-error.ts';

/** `denied`: the path leads out of the workspace, into `.git`, or through a link; nothing was touched. */
export type FileAnswer =
  | { readonly outcome: 'ok'; readonly text: string }
  | { readonly outcome: 'failed' | 'denied'; readonly problem: string };

/**
 * The files of one workspace for somebody who may name any path. Everything stays below the folder and out of `.git`, and no
 * link is followed, since a workspace may hold links that lead anywhere. No process may run in the folder meanwhile: what is
 * looked at and what is opened could be two things.
 */
export interface WorkspaceFiles {
  /** Text from a line on, at most 32 KiB. @param fromLine 1-based. */
  read(path: string, fromLine: number): Promise<FileAnswer>;
  /** Writes the whole file at once, with the folders above it; permissions of a file that is there stay. */
  write(path: string, content: string): Promise<FileAnswer>;
  /** What is in one folder, at most 1000 names; folders end with `/`, links with `@`. */
  list(path: string): Promise<FileAnswer>;
  /** Lines that hold a text, below a folder or in a file, at most 100, as `path:line: text`. */
  search(text: string, path: string, signal: AbortSignal): Promise<FileAnswer>;
}

const LONGEST_ANSWER = 32 * 1024;
const MOST_NAMES = 1_000;
const MOST_HITS = 100;
const MOST_FILES = 20_000;
const LONGEST_LINE = 300;

export const workspaceFiles = (folder: string): WorkspaceFiles => ({
  read: async (path, fromLine) => {
    const at = await placeIn(folder, path);
    return 'outcome' in at ? at : read(folder, at.path, fromLine);
  },
  write: async (path, content) => {
    const at = await placeIn(folder, path);
    if ('outcome' in at) return at;
    if (at.path === '' || !(await replaceFile(folder, at.path, { bytes: content })))
      return failed(`something is in the way of ${path}`);
    return { outcome: 'ok', text: `wrote ${Buffer.byteLength(content)} bytes` };
  },
  list: async (path) => {
    const at = await placeIn(folder, path);
    return 'outcome' in at ? at : list(folder, at.path);
  },
  search: async (text, path, signal) => {
    const at = await placeIn(folder, path);
    return 'outcome' in at ? at : search(folder, { text, path: at.path, signal });
  },
});

const failed = (problem: string): FileAnswer => ({ outcome: 'failed', problem });

/** As the primitives write it; empty for the folder itself. */
const placeIn = async (folder: string, given: string): Promise<FileAnswer | { readonly path: string }> => {
  const path = given.replace(/^(?:\.\/+)+/, '').replace(/\/+$/, given.startsWith('/') ? '/' : '');
  if (path === '' || path === '.') return { path: '' };
  const parsed = workspacePath.safeParse(path);
  if (!parsed.success) return { outcome: 'denied', problem: `a path ${parsed.error.issues[0]?.message ?? 'is wrong'}` };
  const link = await linkIn(folder, path);
  return link === null ? { path } : { outcome: 'denied', problem: `${link} is a link; links are not followed` };
};

const read = async (folder: string, path: string, fromLine: number): Promise<FileAnswer> => {
  const found = await readWorkspaceText(folder, path);
  if (found.found === 'nothing') return failed(`there is no file ${path}`);
  if (found.found === 'unusable') return failed(`${path} ${found.problem}`);
  const lines = found.text.split('\n');
  const rest = lines.slice(fromLine - 1).join('\n');
  const shown = Buffer.from(rest).subarray(0, LONGEST_ANSWER).toString('utf8');
  const cut =
    shown.length < rest.length ? `\n… [cut: ${lines.length} lines, ${found.text.length} characters in all]` : '';
  return { outcome: 'ok', text: shown + cut };
};

const list = async (folder: string, path: string): Promise<FileAnswer> => {
  const names: string[] = [];
  const problem = await eachIn(join(folder, path), (name, kind) => names.push(name + MARKS[kind]));
  if (problem !== null) return failed(`${path || '.'} ${problem}`);
  names.sort();
  const cut = names.length > MOST_NAMES ? `\n… [cut: ${names.length} names in all]` : '';
  return { outcome: 'ok', text: names.slice(0, MOST_NAMES).join('\n') + cut };
};

type Kind = 'folder' | 'file' | 'link' | 'other';
const MARKS: Readonly<Record<Kind, string>> = { folder: '/', file: '', link: '@', other: '?' };

/** @returns why the folder can not be looked at; null when it was. */
const eachIn = async (folder: string, visit: (name: string, kind: Kind) => void): Promise<string | null> => {
  try {
    for await (const entry of await opendir(folder)) {
      if (entry.name.toLowerCase() === '.git') continue;
      visit(entry.name, kindOf(entry));
    }
    return null;
  } catch (error) {
    const problem = PROBLEMS[systemErrorOf(error)?.code ?? ''];
    if (problem === undefined) throw error;
    return problem;
  }
};

const NO_FOLDER = 'is no folder';
const PROBLEMS: Readonly<Record<string, string>> = { ENOENT: 'is not there', ENOTDIR: NO_FOLDER };

const kindOf = (entry: Dirent): Kind => {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : 'other';
};

interface Sought {
  readonly text: string;
  readonly path: string;
  readonly signal: AbortSignal;
}

const search = async (folder: string, { text, path, signal }: Sought): Promise<FileAnswer> => {
  const hits: string[] = [];
  let looked = 0;
  for await (const file of filesBelow(folder, path)) {
    signal.throwIfAborted();
    looked += 1;
    if (looked > MOST_FILES) return told(hits, `only the first ${MOST_FILES} files were looked at`);
    hits.push(...(await hitsIn(folder, file, text)));
    if (hits.length > MOST_HITS) return told(hits, 'there are more');
  }
  return told(hits, null);
};

const told = (hits: readonly string[], note: string | null): FileAnswer => {
  const lines = hits.slice(0, MOST_HITS);
  return {
    outcome: 'ok',
    text: [...(lines.length > 0 ? lines : ['not found']), ...(note ? [`… [${note}]`] : [])].join('\n'),
  };
};

/** In the order of their names; a path that is a file is that file. */
async function* filesBelow(folder: string, path: string): AsyncGenerator<string> {
  const found: (readonly [name: string, kind: Kind])[] = [];
  const problem = await eachIn(join(folder, path), (name, kind) => found.push([name, kind]));
  if (problem === NO_FOLDER) yield path;
  found.sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [name, kind] of found) {
    const below = path === '' ? name : `${path}/${name}`;
    if (kind === 'file') yield below;
    else if (kind === 'folder') yield* filesBelow(folder, below);
  }
}

const hitsIn = async (folder: string, path: string, text: string): Promise<string[]> => {
  const found = await readWorkspaceText(folder, path);
  if (found.found !== 'text' || !found.text.includes(text)) return [];
  return found.text
    .split('\n')
    .flatMap((line, index) => (line.includes(text) ? [`${path}:${index + 1}: ${line.slice(0, LONGEST_LINE)}`] : []));
};
