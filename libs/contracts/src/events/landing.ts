import { z } from 'zod';
import { workspaceRefSchema } from '../workspace.ts';

/** What a run of kind `integrate` merges: `theirs` into the run's own `workspace_ref`, which is the epic's. */
export const mergeSchema = z.object({
  epic: z.string(),
  /** What the child has proved. */
  theirs: workspaceRefSchema,
  /** What the child started from; null: what `theirs` and the run's own workspace both grew out of. */
  base: workspaceRefSchema.nullable(),
});
export type Merge = z.infer<typeof mergeSchema>;

/** Where a run of kind `deliver` brings its workspace. A result that stays an artifact needs no run. */
export const deliverySchema = z.object({ git: z.object({ url: z.string().min(1), branch: z.string().min(1) }) });
export type Delivery = z.infer<typeof deliverySchema>;

/** Conflicting paths that one event names; a count of all stands in its detail. */
export const MOST_CONFLICTS = 100;
