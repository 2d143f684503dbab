import type { Git } from '../git.ts';
import { fieldsOf, type PathBytes } from './merge-entry.ts';

/** Whether a path is one that a task keeps, or below one. */
export const isKept = (path: PathBytes, keep: readonly string[]): boolean =>
  keep.some((kept) => {
    const prefix = Buffer.from(kept.replace(/^(\.\/)+/, '').replace(/\/+$/, ''), 'utf8').toString('latin1');
    return prefix === '.' || path === prefix || path.startsWith(`${prefix}/`);
  });

/** Every path of a tree, or of the tree of a commit. */
export const pathsIn = async (git: Git, gitDir: string, tree: string): Promise<Set<PathBytes>> => {
  const args = ['--git-dir', gitDir, 'ls-tree', '-r', '-z', '--name-only', '--full-tree', tree];
  return new Set(fieldsOf((await git.run({ args })).stdout).filter((path) => path !== ''));
};
