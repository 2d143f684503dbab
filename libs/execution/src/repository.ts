import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { committer, type Git } from './git.ts';
import { isFile } from './is-file.ts';
import { WorkspaceFault } from './workspace-fault.ts';

/** What a repository that is laid down borrows from. */
export interface Lender {
  /** A bare repository or a `.git` folder; its objects are read where they are. */
  readonly gitDir: string;
}

const configurationOf = (bare: boolean): string => `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = ${bare}
\tlogallrefupdates = ${!bare}
[user]
\tname = ${committer.name}
\temail = ${committer.email}
[gc]
\tauto = 0
[advice]
\tdetachedHead = false
`;

/** Lays down an empty repository without hooks or template, three files and no process. */
export const layRepository = async (
  gitDir: string,
  { bare, lenders }: { bare: boolean; lenders: readonly Lender[] },
) => {
  await Promise.all(
    ['objects/info', 'objects/pack', 'refs/heads', 'info'].map((name) =>
      mkdir(join(gitDir, name), { recursive: true }),
    ),
  );
  const alternates = lenders.map(({ gitDir: lender }) => `${join(lender, 'objects')}\n`).join('');
  await Promise.all([
    writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n'),
    writeFile(join(gitDir, 'config'), configurationOf(bare)),
    ...(lenders.length === 0 ? [] : [writeFile(join(gitDir, 'objects/info/alternates'), alternates)]),
  ]);
  for (const { gitDir: lender } of lenders) {
    // History ends where the lender's does.
    if (isFile(join(lender, 'shallow'))) await copyFile(join(lender, 'shallow'), join(gitDir, 'shallow'));
  }
};

/**
 * Adds the objects of a bundle artifact.
 * @throws {WorkspaceFault} `artifact_missing`.
 */
export const unbundle = async (
  git: Git,
  artifacts: Artifacts,
  { gitDir, bundle }: { gitDir: string; bundle: string | null },
) => {
  if (bundle === null) return;
  const bytes = await artifacts.get(bundle);
  if (bytes === null) {
    throw new WorkspaceFault('workspace', 'artifact_missing', { detail: `no artifact ${bundle}` });
  }
  const file = join(gitDir, `bundle-${bundle}`);
  await writeFile(file, bytes, { mode: 0o600 });
  await git.run({ args: ['--git-dir', gitDir, 'bundle', 'unbundle', file] });
  await rm(file);
};
