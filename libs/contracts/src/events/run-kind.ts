import { z } from 'zod';

/**
 * `normal` climbs the ladder, `check` asks the postcondition alone, `agent` is rung 4 alone, `integrate` merges a child
 * into its epic, `deliver` hands the result over.
 */
export const runKindSchema = z.enum(['normal', 'check', 'agent', 'integrate', 'deliver']);
export type RunKind = z.infer<typeof runKindSchema>;

/** Roots and children are units, each with a recovery closure of its own; a `fix` belongs to one. */
export const taskKindSchema = z.enum(['root', 'child', 'fix']);
export type TaskKind = z.infer<typeof taskKindSchema>;
