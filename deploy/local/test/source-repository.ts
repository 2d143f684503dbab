import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A git repository with one commit on `main`, which holds the file `log` with three lines. */
export interface Source {
  readonly folder: string;
  /** Runs git there. @returns what it printed, without the last line break. */
  git(...args: readonly string[]): Promise<string>;
  /** Names of the files of a branch, in order. */
  files(branch: string): Promise<string[]>;
}

/** @param folder absolute; made here. */
export const sourceRepository = async (folder: string, path: string): Promise<Source> => {
  await mkdir(folder, { recursive: true });
  const identity = ['-c', 'user.name=e2e', '-c', 'user.email=e2e@fixpoint.invalid'];
  const git = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await run('git', [...identity, ...args], { cwd: folder, env: { PATH: path } });
    return stdout.trimEnd();
  };
  await git('init', '-q', '-b', 'main', '.');
  await writeFile(join(folder, 'log'), 'first\nsecond\nthird\n');
  await git('add', '-A');
  await git('commit', '-q', '-m', 'start');
  return {
    folder,
    git,
    files: async (branch) => (await git('ls-tree', '-r', '--name-only', branch)).split('\n').sort(),
  };
};
