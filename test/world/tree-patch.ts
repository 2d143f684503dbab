import type { ChangedFile } from '@fixpoint/execution/workspaces';

/** Content by path. */
export type ReadonlyTree = ReadonlyMap<string, string>;

/** What differs between two trees, as a patch. */
export const patchBetween = (before: ReadonlyTree, after: ReadonlyTree) => {
  const files = [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path): ChangedFile[] => {
    if (before.get(path) === after.get(path)) return [];
    if (!before.has(path)) return [{ path, change: 'added' }];
    return [{ path, change: after.has(path) ? 'modified' : 'deleted' }];
  });
  return {
    files,
    text: files.map(({ path }) => patchOf(path, before.get(path) ?? '', after.get(path) ?? '')).join(''),
  };
};

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** One hunk that takes the old file away and puts the new one in its place. */
const patchOf = (path: string, before: string, after: string): string => {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const head = `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n`;
  const range = (lines: string[]): string => (lines.length === 0 ? '0,0' : `1,${lines.length}`);
  const rows = [...old.map((line) => `-${line}`), ...fresh.map((line) => `+${line}`)];
  return `${head}@@ -${range(old)} +${range(fresh)} @@\n${rows.map((row) => `${row}\n`).join('')}`;
};
