import { z } from 'zod';

/** A descendant always has its parent's scope (INV5). */
export const scopeSchema = z.object({ project: z.string(), mode: z.string() });
export type Scope = z.infer<typeof scopeSchema>;
