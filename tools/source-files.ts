import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const TOPS = ['libs', 'services', 'cli', 'bench', 'examples', 'deploy', 'tools', 'test'];
/** `repo`: repositories that the examples work on, some of them broken on purpose; material, not sources. */
const SKIPPED = new Set(['node_modules', 'dist', 'coverage', '.git', '.fixpoint', 'repo']);

/** Every file below a folder, as paths relative to `root` with forward slashes; without build output and packages. */
export const filesBelow = (root: string, folder: string): string[] => {
  const found: string[] = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...filesBelow(root, path));
    else if (entry.isFile()) found.push(relative('.', path));
  }
  return found.sort();
};

const exists = (root: string, folder: string): boolean =>
  readdirSync(root, { withFileTypes: true }).some((entry) => entry.isDirectory() && entry.name === folder);

/**
 * All TypeScript of the repository that a check must have looked at. It is found by walking the tree, not by asking
 * the tool under check, so that a tool that silently sees nothing is caught.
 */
export const sourceFiles = (root: string): string[] =>
  TOPS.filter((top) => exists(root, top))
    .flatMap((top) => filesBelow(root, top))
    .filter((path) => /\.m?ts$|^test\/.*\.mjs$/.test(path));

const TEST_LIBRARIES = ['libs/testing/', 'libs/decider/src/given.ts'];

/** True for what exists only for tests: specs, contract suites, fixtures, `test` folders and the libraries for tests. */
export const isTestFile = (path: string): boolean =>
  /\.(spec|contract|fixture)\.ts$/.test(path) ||
  /(^|\/)test\//.test(path) ||
  TEST_LIBRARIES.some((library) => path.startsWith(library));
