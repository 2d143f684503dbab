import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GitSource } from '@fixpoint/contracts/workspace';
import { type Git, sourceProtocols } from './git.ts';
import { noteUse } from './mirror-uses.ts';
import { assertUsable, resolveSource, unreachable } from './source.ts';
import { WorkspaceFault } from './workspace-fault.ts';

/** Local copies of sources: a run borrows their objects instead of cloning. Any number of processes may share the folder. */
export interface Mirrors {
  /** The commit that a source's ref names now; asks the source. */
  resolve(source: GitSource): Promise<string>;
  /** Makes sure that a commit and all it reaches are here; asks the source only when they are not. @returns a bare repository. */
  holding(source: GitSource | null, commit: string): Promise<string>;
  /** The one commit that an empty workspace starts from. */
  empty(): Promise<string>;
}

const fixedTime = '946684800 +0000';

/** Author and committer time of everything that the machinery commits: the same content is the same commit. */
export const fixedTimes = { GIT_AUTHOR_DATE: fixedTime, GIT_COMMITTER_DATE: fixedTime };

const fetchOptions = [
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-gc',
  // A source may itself be a shallow clone, as build services make them.
  '--update-shallow',
];

/** A pin keeps a commit, and says that all it reaches is there: it is written last. */
export const pinOf = (commit: string): string => `refs/pins/${commit}`;

/** Made under another name and renamed: two processes may both begin, nobody sees half a repository. */
const made = async (git: Git, folder: string): Promise<string> => {
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const draft = `${folder}.${randomUUID()}`;
  await git.run({ args: ['init', '--quiet', '--bare', '--template=', draft] });
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
  return folder;
};

const holds = async (git: Git, mirror: string, commit: string): Promise<boolean> => {
  // Asked for each run, and a process costs a hundred times what a look at the file does.
  if ((await readFile(join(mirror, pinOf(commit)), 'utf8').catch(() => '')).trim() === commit) return true;
  const args = ['--git-dir', mirror, 'rev-parse', '--quiet', '--verify', pinOf(commit)];
  return (await git.run({ args, answers: [0, 1] })).exitCode === 0;
};

const pin = async (git: Git, mirror: string, commit: string): Promise<void> => {
  try {
    await git.run({ args: ['--git-dir', mirror, 'update-ref', pinOf(commit), commit] });
  } catch (cause) {
    // Another process may be pinning the same commit at this moment.
    if (await holds(git, mirror, commit)) return;
    throw new WorkspaceFault('workspace', 'commit_gone', { detail: `the source has no commit ${commit}`, cause });
  }
};

/** By its id, or with all branches and tags where a server gives nothing away by id. */
const fetchCommit = async (git: Git, mirror: string, { url, commit }: { url: string; commit: string }) => {
  // Names of this call alone: two fetches never wait for each other.
  const arrived = `refs/arrivals/${randomUUID()}`;
  const fetch = (wanted: string) =>
    git.run({ args: ['--git-dir', mirror, 'fetch', ...fetchOptions, '--', url, wanted], env: sourceProtocols });
  try {
    await fetch(`${commit}:${arrived}`).catch(() => fetch(`refs/*:${arrived}/*`));
  } catch (cause) {
    throw unreachable(url, cause);
  }
  await pin(git, mirror, commit);
  await forgetArrivals(git, mirror, arrived);
};

/** The pin keeps what is wanted; these would keep everything that ever came along. */
const forgetArrivals = async (git: Git, mirror: string, arrived: string): Promise<void> => {
  const listed = ['--git-dir', mirror, 'for-each-ref', '--format=delete %(refname)', arrived];
  const { stdout } = await git.run({ args: listed });
  if (stdout.length > 0) await git.run({ args: ['--git-dir', mirror, 'update-ref', '--stdin'], stdin: stdout });
};

const emptyCommit = async (git: Git, folder: string): Promise<string> => {
  const mirror = await made(git, folder);
  const tree = await git.line({ args: ['--git-dir', mirror, 'mktree'] });
  const args = ['--git-dir', mirror, 'commit-tree', '-m', 'Empty workspace', tree];
  const commit = await git.line({ args, env: fixedTimes });
  if (!(await holds(git, mirror, commit))) await pin(git, mirror, commit);
  return commit;
};

/** Mirrors of sources under `<root>/mirrors`, one bare repository each, named after the URL. */
export const hostMirrors = (git: Git, root: string): Mirrors => {
  const emptyMirror = join(root, 'mirrors', 'empty.git');
  const mirrorOf = ({ url }: GitSource) => {
    const name = createHash('sha256').update(url).digest('hex').slice(0, 40);
    return made(git, join(root, 'mirrors', `${name}.git`));
  };
  return {
    empty: () => emptyCommit(git, emptyMirror),
    resolve: async (source) => {
      assertUsable(source);
      return resolveSource(git, source);
    },
    holding: async (source, commit) => {
      if (source === null) {
        if (!existsSync(emptyMirror)) await emptyCommit(git, emptyMirror);
        return emptyMirror;
      }
      assertUsable(source);
      const mirror = await mirrorOf(source);
      if (!(await holds(git, mirror, commit))) await fetchCommit(git, mirror, { url: source.url, commit });
      await noteUse(mirror, commit);
      return mirror;
    },
  };
};
