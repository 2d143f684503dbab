import { isAbsolute } from 'node:path';
import { gitProvider } from '@fixpoint/contracts/provider-name';
import type { GitSource } from '@fixpoint/contracts/workspace';
import { type Git, GitFailure, sourceProtocols, withoutCredentials } from './git.ts';
import { WorkspaceFault } from './workspace-fault.ts';

const isRemote = (url: string): boolean => !(isAbsolute(url) || url.startsWith('file://'));

/** @throws {WorkspaceFault} `source_invalid` for what git would read as an option, a command or a path from here. */
export const assertUsable = ({ url, ref }: GitSource): void => {
  const isPlain = [url, ref].every((text) => text !== '' && !text.startsWith('-') && !/[\0\n\r]/.test(text));
  const isAddress = isAbsolute(url) || /^(file|git|https?|ssh):\/\//.test(url) || /^[\w.-]+@[\w.-]+:/.test(url);
  if (isPlain && isAddress) return;
  throw new WorkspaceFault('source', 'source_invalid', {
    detail: 'a source is an absolute path or a URL, and a ref',
  });
};

/** What a failed exchange with a source is: the network's fault when the source is on another host. */
export const unreachable = (url: string, cause: unknown): unknown => {
  if (!(cause instanceof GitFailure)) return cause;
  const detail = `${withoutCredentials(url)}: ${cause.message}`;
  const reason = { detail, cause, provider: gitProvider(url) };
  return new WorkspaceFault(isRemote(url) ? 'network' : 'workspace', 'source_unreachable', reason);
};

/** Names that a ref may stand for, the likeliest first; an annotated tag by the commit that it tags. */
const namesOf = (ref: string): string[] => {
  if (ref === 'HEAD') return [ref];
  if (ref.startsWith('refs/')) return [`${ref}^{}`, ref];
  return [`refs/heads/${ref}`, `refs/tags/${ref}^{}`, `refs/tags/${ref}`];
};

const isCommitId = (ref: string): boolean => /^[0-9a-f]{40}$/.test(ref);

/**
 * Asks a source which commit its ref names now; a commit id names itself and is not asked for.
 * @throws {WorkspaceFault} `source_unreachable`, `ref_unknown`.
 */
export const resolveSource = async (git: Git, { url, ref }: GitSource): Promise<string> => {
  if (isCommitId(ref)) return ref;
  const names = namesOf(ref);
  const { stdout } = await git
    .run({ args: ['ls-remote', '--', url, ...names], env: sourceProtocols })
    .catch((cause: unknown) => Promise.reject(unreachable(url, cause)));
  const lines = stdout.toString('utf8').split('\n');
  const rows = lines.map((line) => line.split('\t'));
  // git also lists what only ends like the name.
  const found = names.map((name) => rows.find((row) => row[1] === name)?.[0]).find((id) => id !== undefined);
  if (found !== undefined) return found;
  throw new WorkspaceFault('source', 'ref_unknown', { detail: `${withoutCredentials(url)} has no ${ref}` });
};
