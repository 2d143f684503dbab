import { z } from 'zod';

/** One complaint about a document. `line` and `column` are 1-based; null where only the path is known. */
export const diagnosticSchema = z.object({
  /** Stable: `FX103`, `yaml_syntax`, … */
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  message: z.string(),
  /** What to write instead; empty when there is nothing to say. */
  hint: z.string(),
  /** JSON pointer into the document. */
  path: z.string(),
  line: z.int().positive().nullable(),
  column: z.int().positive().nullable(),
});
export type Diagnostic = z.infer<typeof diagnosticSchema>;

/** Body of every answer with a status of 400 or more, of both APIs. */
export const errorBodySchema = z.object({
  /** snake_case, stable: part of the API. */
  code: z.string(),
  detail: z.string(),
  /** Empty unless a document was refused. */
  diagnostics: z.array(diagnosticSchema),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;
