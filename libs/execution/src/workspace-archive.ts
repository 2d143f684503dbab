import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { type ArtifactRef, ArtifactTooLarge } from '@fixpoint/event-store/artifacts';
import { inScratch, type Parts } from './scratch.ts';
import { WorkspaceFault } from './workspace-fault.ts';

/** The tree without files; the same in every repository that names objects by SHA-1. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/**
 * What an archive leaves out is a setting of the workspace for its releases, and no wish of those who work on it; settings of the
 * repository stand above those of its files.
 */
const EVERYTHING = '* -export-ignore -export-subst\n';

/** The files of a workspace as one tar archive in an artifact; null when it has none. */
export const archiveOf = async (parts: Parts, ref: WorkspaceRef): Promise<ArtifactRef | null> => {
  if (ref.tree === EMPTY_TREE) return null;
  return inScratch(parts, { refs: [ref], lenders: [], unbundled: true }, async (gitDir) => {
    await mkdir(join(gitDir, 'info'), { recursive: true });
    await writeFile(join(gitDir, 'info', 'attributes'), EVERYTHING);
    const archive = parts.git.stream({ args: ['--git-dir', gitDir, 'archive', '--format=tar', ref.commit] });
    return parts.artifacts.put(archive).catch(refused);
  });
};

const refused = (error: unknown): never => {
  if (!(error instanceof ArtifactTooLarge)) throw error;
  throw new WorkspaceFault('workspace', 'too_large_to_send', {
    detail: 'its files are more than 256 MiB',
    cause: error,
  });
};
