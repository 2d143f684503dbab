import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Git } from './git.ts';
import type { Mirrors } from './mirrors.ts';
import { type Lender, layRepository, unbundle } from './repository.ts';
import { WorkspaceFault } from './workspace-fault.ts';

/** What workspaces of this host are made with. */
export interface Parts {
  readonly git: Git;
  readonly mirrors: Mirrors;
  readonly artifacts: Artifacts;
  readonly root: string;
}

/** @throws {WorkspaceFault} `ref_name_invalid` */
export const assertRefName = (refName: string): void => {
  if (/^refs\/fixpoint(\/[\w-]+)+$/.test(refName)) return;
  throw new WorkspaceFault('workspace', 'ref_name_invalid', { detail: refName });
};

interface Bundle {
  readonly commit: string;
  readonly base: string;
  readonly refName: string;
}

/** All objects that the base does not reach, however many runs made them: one artifact is enough to come back. */
export const bundled = async ({ git, artifacts }: Parts, gitDir: string, { commit, base, refName }: Bundle) => {
  const news = ['--git-dir', gitDir, 'rev-list', '--max-count=1', commit, `^${base}`];
  if ((await git.line({ args: news })) === '') return null;
  await git.run({ args: ['--git-dir', gitDir, 'update-ref', refName, commit] });
  const args = ['--git-dir', gitDir, 'bundle', 'create', '--quiet', '-', refName, `^${base}`];
  return (await artifacts.put(git.stream({ args }))).hash;
};

export interface Scratch {
  readonly refs: readonly WorkspaceRef[];
  readonly lenders: readonly Lender[];
  /** Whether the objects of the refs' bundles are needed, too. */
  readonly unbundled: boolean;
}

/** Works in a bare repository of its own that reaches the objects of some refs, and removes it. */
export const inScratch = async <Result>(
  { git, mirrors, artifacts, root }: Parts,
  { refs, lenders, unbundled }: Scratch,
  work: (gitDir: string) => Promise<Result>,
): Promise<Result> => {
  const gitDir = join(root, 'scratch', randomUUID());
  try {
    const held = await Promise.all(refs.map((ref) => mirrors.holding(ref.source, ref.base)));
    const mirrored = [...new Set(held)].map((mirror) => ({ gitDir: mirror }));
    await layRepository(gitDir, { bare: true, lenders: [...lenders, ...mirrored] });
    for (const { bundle } of unbundled ? refs : []) await unbundle(git, artifacts, { gitDir, bundle });
    return await work(gitDir);
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
};
