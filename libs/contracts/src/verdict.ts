import { z } from 'zod';
import { severitySchema } from './documents/protocol.ts';

/** One place where a check objects. Findings without rule, path or line (exit codes, criteria) are not evidence of place. */
export const findingSchema = z.object({
  rule: z.string(),
  path: z.string().nullable(),
  line: z.int().nullable(),
  criterion: z.string().nullable(),
  message: z.string(),
});
export type Finding = z.infer<typeof findingSchema>;

export const verdictSchema = z.object({
  validator: z.string(),
  severity: severitySchema,
  /** Before the severity cap. */
  original_severity: severitySchema,
  /** The answer is unusable or the declaration wrong: halts, whatever else was said. */
  error: z.boolean(),
  overridable: z.boolean(),
  justification: z.string(),
  criteria: z.array(z.string()),
  findings: z.array(findingSchema),
  /** sha256 of the canonical findings (rule, path, line, criterion); never of prose or raw output. */
  evidence_hash: z.string(),
  /** Artifact with the check's whole output. */
  output: z.string().nullable(),
  duration_ms: z.number(),
});
export type Verdict = z.infer<typeof verdictSchema>;

/** Coarse kinds of halt; the exact cause stands beside it as `raw_halt_type`. */
export const haltTypeSchema = z.enum([
  'blocker',
  'validator_error',
  'escalate',
  'unmet',
  'recovery_exhausted',
  'recovery_stalled',
  'environment_error',
  'internal_error',
  'budget',
  /** A run needs a value that is not there, or a condition that can not be answered. */
  'data',
]);
export type HaltType = z.infer<typeof haltTypeSchema>;
