import { isAbsolute } from 'node:path';
import { type Git, sourceProtocols, withoutCredentials } from '../git.ts';
import { unreachable } from '../source.ts';
import { WorkspaceFault } from '../workspace-fault.ts';
import type { Delivered } from '../workspaces.ts';

export interface PushTarget {
  readonly url: string;
  readonly branch: string;
  readonly commit: string;
}

/**
 * Where a branch is now; null when there is none.
 * @throws {WorkspaceFault} `source_unreachable`.
 */
export const tipOf = async (git: Git, { url, branch }: Omit<PushTarget, 'commit'>): Promise<string | null> => {
  const name = `refs/heads/${branch}`;
  const { stdout } = await git
    .run({ args: ['ls-remote', '--', url, name], env: sourceProtocols })
    .catch((cause: unknown) => Promise.reject(unreachable(url, cause)));
  const rows = stdout
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\t'));
  // git also lists what only ends like the name.
  return rows.find((row) => row[1] === name)?.[0] ?? null;
};

/**
 * The other side of a push to a folder of this host is a git of ours in a repository of somebody's: what its configuration
 * names is not run, and the files of those who work in it are not touched.
 */
const RECEIVER = [
  'GIT_ALLOW_PROTOCOL=none git',
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.alternateRefsCommand=true'].map((set) => `-c ${set}`),
  ...['receive.denyCurrentBranch=refuse', 'receive.autogc=false', 'gc.auto=0'].map((set) => `-c ${set}`),
  'receive-pack',
].join(' ');

/** Null for a repository on another host. */
const folderOf = (url: string): string | null => {
  if (isAbsolute(url)) return url;
  return url.startsWith('file://') ? decodeURIComponent(url.slice('file://'.length)) : null;
};

/** Pushes, never by force, then asks the other side. */
export const pushTo = async (git: Git, gitDir: string, target: PushTarget): Promise<Delivered> => {
  const { url, branch, commit } = target;
  const receiver = folderOf(url) === null ? [] : [`--receive-pack=${RECEIVER}`];
  const options = ['--porcelain', '--no-verify', '--no-signed', '--no-follow-tags', '--recurse-submodules=no'];
  const refspec = `${commit}:refs/heads/${branch}`;
  const args = ['--git-dir', gitDir, 'push', ...options, ...receiver, '--', url, refspec];
  const { exitCode, stdout } = await git
    .run({ args, env: sourceProtocols, answers: [0, 1] })
    .catch((cause: unknown) => Promise.reject(unreachable(url, cause)));
  const tip = await tipOf(git, target);
  if (tip === commit) return { outcome: 'delivered', commit, already: false };
  if (exitCode === 0) return { outcome: 'refused', commit, reason: 'moved_on', detail: movedOn(target, tip) };
  return refusal(git, target, { said: refusedIn(stdout.toString('utf8')), tip });
};

const movedOn = ({ url, branch }: PushTarget, tip: string | null): string =>
  `${branch} of ${withoutCredentials(url)} is at ${tip ?? 'nothing'}, which the result does not hold; merge it, or name another branch`;

/** `!\t<from>:<to>\t<what> (<why>)`: what git says to programs about a ref that was not updated. */
const refusedIn = (porcelain: string): string | null => {
  const line = porcelain.split('\n').find((each) => each.startsWith('!\t'));
  return line?.split('\t').at(2) ?? null;
};

/** Said of a ref when the other side could not store what it was sent: its machinery, not its will. */
const UNABLE = ['unpacker error', 'failed to update ref', 'unable to migrate objects to permanent storage'];

interface Refused {
  readonly said: string | null;
  readonly tip: string | null;
}

const refusal = async (git: Git, target: PushTarget, { said, tip }: Refused): Promise<Delivered> => {
  const { url, branch, commit } = target;
  const place = `${branch} of ${withoutCredentials(url)}`;
  if (said === null || UNABLE.some((why) => said.includes(`(${why})`))) {
    throw new WorkspaceFault('workspace', 'push_failed', { detail: `${place}: ${said ?? 'no answer'}` });
  }
  if (said.startsWith('[rejected]'))
    return { outcome: 'refused', commit, reason: 'moved_on', detail: movedOn(target, tip) };
  if (await isCheckedOut(git, target)) {
    const detail = `${place} is checked out there, and a push would pull the files away under whoever works on it; check out another branch there, or name another here`;
    return { outcome: 'refused', commit, reason: 'checked_out', detail };
  }
  return { outcome: 'refused', commit, reason: 'declined', detail: `${place}: ${withoutCredentials(said)}` };
};

const isCheckedOut = async (git: Git, { url, branch }: PushTarget): Promise<boolean> => {
  const folder = folderOf(url);
  if (folder === null) return false;
  const { stdout } = await git.run({ args: ['-C', folder, 'worktree', 'list', '--porcelain'], answers: [0, 128] });
  return stdout.toString('utf8').split('\n').includes(`branch refs/heads/${branch}`);
};
