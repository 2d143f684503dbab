/** Lines that a patch adds to one file. */
export interface AddedLines {
  /** From the root of the workspace. */
  readonly path: string;
  /** 1-based numbers in the new file, ascending. */
  readonly lines: readonly { readonly number: number; readonly text: string }[];
}

export interface PatchContent {
  /** Files with added lines; removals and mode changes are left out. */
  readonly added: readonly AddedLines[];
  /** Paths of changed files that git takes for binary: a patch says nothing about their content. */
  readonly binary: readonly string[];
}

interface Hunk {
  /** Number of the next line in the new file. */
  next: number;
  /** Lines of the hunk that are still to come, in the old and in the new file. */
  old: number;
  new: number;
}

interface Reading {
  path: string;
  hunk: Hunk;
  readonly added: Map<string, { number: number; text: string }[]>;
  readonly binary: Set<string>;
}

/** Reads a patch of git without rename detection, with or without context, with the prefixes `a/` and `b/`. */
export const readPatch = (patch: string): PatchContent => {
  const reading: Reading = { path: '', hunk: noHunk(), added: new Map(), binary: new Set() };
  for (const row of patch.split('\n')) {
    if (reading.hunk.old > 0 || reading.hunk.new > 0) readLine(reading, row);
    else readHeader(reading, row);
  }
  return { added: [...reading.added].map(([path, lines]) => ({ path, lines })), binary: [...reading.binary] };
};

const noHunk = (): Hunk => ({ next: 0, old: 0, new: 0 });

const readHeader = (reading: Reading, row: string): void => {
  if (row.startsWith('diff --git ')) reading.path = pathOf(row.slice('diff --git '.length));
  else if (row.startsWith('@@ ')) reading.hunk = hunkOf(row);
  else if (row === 'GIT binary patch' || /^Binary files .* differ$/.test(row)) reading.binary.add(reading.path);
};

const readLine = ({ hunk, path, added }: Reading, row: string): void => {
  const sign = row[0];
  if (sign === '\\') return;
  if (sign === '+') {
    const lines = added.get(path) ?? [];
    lines.push({ number: hunk.next, text: row.slice(1) });
    added.set(path, lines);
  }
  if (sign !== '+') hunk.old -= 1;
  if (sign === '-') return;
  hunk.new -= 1;
  hunk.next += 1;
};

/** `@@ -1,2 +3,4 @@`: 2 old lines from 1, 4 new ones from 3. */
const hunkOf = (row: string): Hunk => {
  const [, old = '1', next = '0', added = '1'] = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(row) ?? [];
  return { next: Number(next), old: Number(old), new: Number(added) };
};

/** `a/x b/x`: the same name twice, as there are no renames; each half may be quoted. */
const pathOf = (names: string): string => {
  const half = names.slice((names.length + 1) / 2);
  return (half.startsWith('"') ? unquoted(half) : half).replace(/^b\//, '');
};

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Git writes unusual names as C strings with octal bytes. */
const unquoted = (name: string): string => {
  const bytes: number[] = [];
  for (const [, octal, escaped, plain] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (escaped !== undefined) bytes.push(ESCAPES[escaped] ?? escaped.charCodeAt(0));
    else bytes.push(...Buffer.from(plain ?? ''));
  }
  return Buffer.from(bytes).toString('utf8');
};
