import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import type { NotStarted } from './sandbox.ts';

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not for us.
    return false;
  }
};

/** The file that a name stands for on a search path, as `execvp` finds it; null when there is none. */
export const findProgram = (name: string, path: string): string | null =>
  path
    .split(':')
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find(isProgram) ?? null;

/** Why a program can't be executed; null when it can. A path is taken as it is. */
export const programProblem = (file: string, { path, cwd }: { path: string; cwd: string }): NotStarted | null => {
  if (!file.includes('/')) {
    if (findProgram(file, path) !== null) return null;
    return { problem: { code: 'not_found', detail: `no program ${file} in ${path}` } };
  }
  const at = file.startsWith('/') ? file : join(cwd, file);
  if (statSync(at, { throwIfNoEntry: false }) === undefined) {
    return { problem: { code: 'not_found', detail: `there is no ${at}` } };
  }
  return isProgram(at) ? null : { problem: { code: 'not_executable', detail: `${at} can not be executed` } };
};
