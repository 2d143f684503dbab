import { contentHash } from '@fixpoint/contracts/content-hash';
import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import picomatch from 'picomatch';

/** A file of a workspace: path from its root, with `/`; hash of its content (a git blob or link id with its mode). */
export interface HashedPath {
  readonly path: string;
  readonly hash: string;
}

// A mode is read once per protocol version and never changes: its part of the hash is worth keeping.
const hashesOfModes = new WeakMap<ModeSpec, string>();

const hashOfMode = (mode: ModeSpec): string => {
  const known = hashesOfModes.get(mode);
  if (known !== undefined) return known;
  const { governance_rules, command_rules, pre, post, consensus, recover_on } = mode;
  const hash = contentHash({
    governance_rules,
    command_rules,
    pre,
    post,
    consensus,
    recover_on,
    protected: mode.protected,
  });
  hashesOfModes.set(mode, hash);
  return hash;
};

/**
 * What is done in a run and what judges it, as one hash: the whole node with its recipe and postcondition and, of the
 * mode, everything that decides what is good. Taken when the run is gated, and again before it starts: a difference means
 * that this is not what the gate saw, whatever message brought it.
 */
export const firewallHash = ({ node, mode }: { node: NodeSpec; mode: ModeSpec }): string =>
  contentHash({ node, mode: hashOfMode(mode) });

/**
 * Whether a path of the workspace is under one of the globs. A glob that names a folder covers all that is in it; hidden
 * files are no exception. Empty when there are no globs.
 */
export const protectedPaths = (globs: readonly string[]): ((path: string) => boolean) => {
  const matchers = globs.map((glob) => picomatch(glob.replace(/^(\.?\/)+/, '').replace(/\/+$/, ''), { dot: true }));
  if (matchers.length === 0) return () => false;
  return (path) => folders(path).some((part) => matchers.some((matches) => matches(part)));
};

/** `a/b/c` → `a/b/c`, `a/b`, `a`. */
const folders = (path: string): string[] => {
  const parts = path.split('/');
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('/'));
};

/**
 * Protected paths that were changed, added or removed, sorted. Empty: nothing was touched.
 * @param changed paths that differ between the start and the end of a run (renames as both paths).
 */
export const changedProtectedPaths = (globs: readonly string[], changed: Iterable<string>): string[] => {
  const isProtected = protectedPaths(globs);
  return [...new Set(changed)].filter(isProtected).sort();
};

/** One hash over the protected files of a workspace: equal hashes, untouched files. */
export const protectedHash = (globs: readonly string[], files: Iterable<HashedPath>): string => {
  const isProtected = protectedPaths(globs);
  const kept = [...files].filter(({ path }) => isProtected(path)).map(({ path, hash }) => [path, hash] as const);
  return contentHash(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
};
