import { existsSync } from 'node:fs';
import { mkdir, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { borrowedObjects } from './borrowed-objects.ts';
import { checkOut } from './checkout.ts';
import { hostGit, sourceProtocols } from './git.ts';
import { deliver } from './landing/deliver.ts';
import { merge } from './landing/merge.ts';
import { hostMirrors, pinOf } from './mirrors.ts';
import { removeFolder, setWritable } from './remove-folder.ts';
import { layRepository, unbundle } from './repository.ts';
import { assertRefName, bundled, inScratch, type Parts } from './scratch.ts';
import { snapshotOf } from './snapshot.ts';
import { archiveOf } from './workspace-archive.ts';
import { diffOf, diffTextOf, onTheWay } from './workspace-diff.ts';
import { WorkspaceFault } from './workspace-fault.ts';
import type { Capture, DiffText, WorkspaceDiff, Workspaces } from './workspaces.ts';

export interface GitWorkspacesOptions {
  /** Cache and scratch space; any number of processes may share it, and it may be deleted when none runs. */
  readonly root: string;
  readonly artifacts: Artifacts;
  /** PATH where git and ssh are found. */
  readonly path: string;
  /** A failure with less space than this under `root` is the disk's; default 16 MiB. */
  readonly leastFreeBytes?: number;
}

/** Workspaces by the git of this host. */
export const gitWorkspaces = ({
  root,
  artifacts,
  path,
  leastFreeBytes = 16 * 1024 * 1024,
}: GitWorkspacesOptions): Workspaces => {
  const git = hostGit({ folder: join(root, 'git'), path });
  const parts: Parts = { git, mirrors: hostMirrors(git, root), artifacts, root };
  const faulting = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((cause) => fault(cause, { root, leastFreeBytes }));
  return {
    resolve: (source) => faulting(resolve(parts, source)),
    materialise: (ref, folder, access = 'writable') => faulting(materialise(parts, ref, { folder, access })),
    borrowed: (folder) => faulting(borrowedObjects(folder)),
    capture: (folder, ref, how) => faulting(capture(parts, ref, { folder, ...how })),
    diff: (from, to) => faulting(diff(parts, from, to)),
    diffText: (from, to, mostBytes) => faulting(diffText(parts, from, { to, mostBytes })),
    merge: (request) => faulting(merge(parts, request)),
    deliver: (ref, delivery) => faulting(deliver(parts, ref, delivery)),
    archive: (ref) => faulting(archiveOf(parts, ref)),
    export: (ref, folder) => faulting(exportTo(parts, ref, folder)),
    remove: (folder) => faulting(removeFolder(folder)),
  };
};

/** Full disks fail in many ways; so the disk is asked, not the error. */
const fault = async (cause: unknown, disk: { root: string; leastFreeBytes: number }): Promise<never> => {
  const space = await statfs(disk.root).catch(() => null);
  const detail = cause instanceof Error ? cause.message : String(cause);
  if (space !== null && space.bavail * space.bsize < disk.leastFreeBytes) {
    throw new WorkspaceFault('disk', 'disk_full', { detail, cause });
  }
  if (cause instanceof WorkspaceFault) throw cause;
  throw new WorkspaceFault('workspace', 'workspace_failed', { detail, cause });
};

const resolve = async ({ git, mirrors }: Parts, source: WorkspaceRef['source']): Promise<WorkspaceRef> => {
  const base = source === null ? await mirrors.empty() : await mirrors.resolve(source);
  const mirror = await mirrors.holding(source, base);
  const commit = await git.line({ args: ['--git-dir', mirror, 'rev-parse', `${base}^{commit}`] });
  const tree = await git.line({ args: ['--git-dir', mirror, 'rev-parse', `${base}^{tree}`] });
  return { source, base: commit, head: commit, commit, tree, bundle: null };
};

const emptyFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length === 0) return;
  throw new WorkspaceFault('workspace', 'folder_not_empty', { detail: folder });
};

const materialise = async (
  { git, mirrors, artifacts }: Parts,
  ref: WorkspaceRef,
  { folder, access }: { folder: string; access: 'writable' | 'read_only' },
): Promise<void> => {
  await emptyFolder(folder);
  const mirror = await mirrors.holding(ref.source, ref.base);
  const gitDir = join(folder, '.git');
  await layRepository(gitDir, { bare: false, lenders: [{ gitDir: mirror }] });
  await unbundle(git, artifacts, { gitDir, bundle: ref.bundle });
  await checkOut(git, folder, ref);
  if (access === 'read_only') await setWritable(folder, false);
};

const exportTo = async ({ git, mirrors, artifacts }: Parts, ref: WorkspaceRef, folder: string): Promise<void> => {
  await emptyFolder(folder);
  const mirror = await mirrors.holding(ref.source, ref.base);
  const gitDir = join(folder, '.git');
  await layRepository(gitDir, { bare: false, lenders: [] });
  const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--update-shallow'];
  const args = ['--git-dir', gitDir, 'fetch', ...options, '--', mirror, pinOf(ref.base)];
  await git.run({ args, env: sourceProtocols });
  await unbundle(git, artifacts, { gitDir, bundle: ref.bundle });
  await checkOut(git, folder, ref);
};

const capture = async (
  parts: Parts,
  ref: WorkspaceRef,
  { folder, keep, refName }: Capture & { folder: string },
): Promise<WorkspaceRef> => {
  assertRefName(refName);
  const own = join(folder, '.git');
  const lenders = existsSync(join(own, 'objects')) ? [{ gitDir: own }] : [];
  // A recipe may have removed `.git`; then the history comes from where the folder was made from.
  return inScratch(parts, { refs: [ref], lenders, unbundled: lenders.length === 0 }, async (gitDir) => {
    const snapshot = await snapshotOf(parts.git, { folder, gitDir }, { before: ref, keep });
    if (snapshot.commit === ref.commit && snapshot.head === ref.head) return ref;
    const bundle = await bundled(parts, gitDir, { commit: snapshot.commit, base: ref.base, refName });
    return { ...ref, ...snapshot, bundle };
  });
};

const diff = (parts: Parts, from: WorkspaceRef, to: WorkspaceRef): Promise<WorkspaceDiff> =>
  inScratch(parts, { refs: [from, to], lenders: [], unbundled: true }, async (gitDir) => ({
    ...(await diffOf(parts, gitDir, { from: from.tree, to: to.tree })),
    ...(await onTheWay(parts, gitDir, { from: from.commit, to: to.commit })),
  }));

const diffText = (
  parts: Parts,
  from: WorkspaceRef,
  { to, mostBytes }: { readonly to: WorkspaceRef; readonly mostBytes: number },
): Promise<DiffText> =>
  inScratch(parts, { refs: [from, to], lenders: [], unbundled: true }, (gitDir) =>
    diffTextOf(parts.git, gitDir, { from: from.tree, to: to.tree, mostBytes }),
  );
