import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { memoryArtifacts } from '../artifacts.fixture.ts';
import { gitWorkspaces } from '../git-workspaces.ts';

const path = '/usr/local/bin:/usr/bin:/bin';

/** Content by path; null deletes. */
export type Files = Readonly<Record<string, string | Buffer | null>>;

/** A source with some files, and workspaces that grow out of it. */
export const landingPlace = (files: Files) => {
  const top = mkdtempSync(join(tmpdir(), 'fixpoint-landing-'));
  const artifacts = memoryArtifacts();
  const workspaces = gitWorkspaces({ root: join(top, 'cache'), artifacts, path });
  let made = 0;

  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', args, {
      cwd,
      env: {
        PATH: path,
        HOME: top,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'A',
        GIT_COMMITTER_NAME: 'A',
        EMAIL: 'a@localhost',
      },
      stdio: 'pipe',
    })
      .toString()
      .trim();

  const write = (folder: string, changes: Files): void => {
    for (const [name, content] of Object.entries(changes)) {
      const file = join(folder, name);
      rmSync(file, { recursive: true, force: true });
      if (content === null) continue;
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, content);
    }
  };

  const fresh = (name: string): string => {
    made += 1;
    return join(top, `${name}-${made}`);
  };

  const url = join(top, 'source');
  mkdirSync(url);
  git(url, 'init', '-q', '-b', 'main', '.');
  write(url, files);
  git(url, 'add', '-A');
  git(url, 'commit', '-qm', 'First');

  /** Work in a folder, kept as a workspace. */
  const worked = async (
    from: WorkspaceRef,
    work: (folder: string) => void,
    keep: string[] = [],
  ): Promise<WorkspaceRef> => {
    const folder = fresh('work');
    await workspaces.materialise(from, folder);
    work(folder);
    made += 1;
    return workspaces.capture(folder, from, { keep, refName: `refs/fixpoint/r/t/${made}` });
  };

  /** Changes that are committed. */
  const committed = (from: WorkspaceRef, changes: Files, message = 'Work'): Promise<WorkspaceRef> =>
    worked(from, (folder) => {
      write(folder, changes);
      git(folder, 'add', '-A');
      git(folder, 'commit', '-qm', message);
    });

  return {
    top,
    url,
    artifacts,
    workspaces,
    git,
    write,
    fresh,
    worked,
    committed,
    start: () => workspaces.resolve({ url, ref: 'main' }),
    /** Changes that nobody commits. */
    uncommitted: (from: WorkspaceRef, changes: Files, keep: string[] = []) =>
      worked(from, (folder) => write(folder, changes), keep),
    merge: (ours: WorkspaceRef, theirs: WorkspaceRef, base: WorkspaceRef | null, keep: string[] = []) =>
      workspaces.merge({ ours, theirs, base, keep, refName: 'refs/fixpoint/r/t/99', message: 'Merge t' }),
    /** A checkout of a workspace by a replica that has nothing yet. */
    folderOf: async (ref: WorkspaceRef): Promise<string> => {
      const folder = fresh('look');
      await gitWorkspaces({ root: fresh('replica'), artifacts, path }).materialise(ref, folder);
      return folder;
    },
    close: (): void => {
      const scratch = join(top, 'cache', 'scratch');
      const left = existsSync(scratch) ? readdirSync(scratch) : [];
      rmSync(top, { recursive: true });
      if (left.length > 0) throw new Error(`left in the scratch folder: ${left.join(', ')}`);
    },
  };
};

export type LandingPlace = ReturnType<typeof landingPlace>;

const contentOf = (file: string): string => {
  const status = lstatSync(file);
  if (status.isSymbolicLink()) return `-> ${readlinkSync(file)}`;
  return `${(status.mode & 0o100) === 0 ? '' : '*'}${readFileSync(file, 'latin1')}`;
};

/** Content by path; `-> target` for links, `*` before what may be executed. */
export const filesIn = (folder: string, below = ''): Record<string, string> => {
  const names = readdirSync(join(folder, below)).filter((name) => name !== '.git');
  const found = names.map((name): Record<string, string> => {
    const relative = below === '' ? name : `${below}/${name}`;
    const file = join(folder, relative);
    return lstatSync(file).isDirectory() ? filesIn(folder, relative) : { [relative]: contentOf(file) };
  });
  return Object.assign({}, ...found);
};

export const lines = (...all: string[]): string => all.map((line) => `${line}\n`).join('');
