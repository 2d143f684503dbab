import { z } from 'zod';

const sha1 = z.string().regex(/^[0-9a-f]{40}$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Where a workspace comes from: any URL that git understands, and a ref in it. */
export const gitSourceSchema = z.object({ url: z.string().min(1), ref: z.string().min(1) });
export type GitSource = z.infer<typeof gitSourceSchema>;

/** A path that a task keeps although git ignores it: relative, and inside the workspace. */
export const keptPathSchema = z
  .string()
  .min(1)
  .refine(
    (path) =>
      !path.startsWith('/') &&
      !path.includes('\0') &&
      path.split('/').every((part) => part !== '..' && part.toLowerCase() !== '.git'),
  );

/**
 * A workspace is a git commit; a folder is only a cache of it. Everything a replica needs to make the folder again:
 * fetch `base` from `source` (or start from the deterministic empty commit), then apply `bundle`.
 */
export const workspaceRefSchema = z.object({
  source: gitSourceSchema.nullable(),
  /** The commit of the source that the lineage started from. */
  base: sha1,
  /** What HEAD was in the folder: commits that a recipe made stay commits. */
  head: sha1,
  /** Snapshot of the whole folder (equals `head` when nothing was uncommitted). */
  commit: sha1,
  /** Tree of `commit`: equal trees mean equal content. */
  tree: sha1,
  /** sha256 of a git bundle artifact with the objects that `base` does not reach; null when there are none. */
  bundle: sha256.nullable(),
});
export type WorkspaceRef = z.infer<typeof workspaceRefSchema>;
