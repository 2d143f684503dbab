import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { GitSource, WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Workspaces } from '@fixpoint/execution/workspaces';

export interface CopyDeps {
  readonly workspaces: Workspaces;
  /** Private folder of this service for copies; anything in it may be deleted when nothing runs. */
  readonly copiesFolder: string;
}

/** A copy of a workspace that is made when somebody asks for it first, and once. */
export interface WorkspaceCopy {
  /** Absolute path of a folder that nobody is to write in. */
  folder(): Promise<string>;
  /** Folders outside of it that its git has to read. */
  borrowed(): Promise<readonly string[]>;
}

/**
 * Lends a read-only copy to some work and removes it afterwards. Nothing is made when nobody asks.
 * @param ref null: the start of `source`, or an empty folder.
 */
export const withCopy = async <Result>(
  { workspaces, copiesFolder }: CopyDeps,
  { ref, source }: { readonly ref: WorkspaceRef | null; readonly source: GitSource | null },
  work: (copy: WorkspaceCopy) => Promise<Result>,
): Promise<Result> => {
  const folder = join(copiesFolder, randomUUID());
  let made: Promise<readonly string[]> | null = null;
  const make = async (): Promise<readonly string[]> => {
    await workspaces.materialise(ref ?? (await workspaces.resolve(source)), folder, 'read_only');
    return workspaces.borrowed(folder);
  };
  const borrowed = (): Promise<readonly string[]> => (made ??= make());
  try {
    return await work({ folder: () => borrowed().then(() => folder), borrowed });
  } finally {
    if (made !== null) await workspaces.remove(folder);
  }
};
