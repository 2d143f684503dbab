import { z } from 'zod';
import { nodeSpecSchema } from '../documents/task.ts';
import { haltTypeSchema } from '../verdict.ts';
import { workspaceRefSchema } from '../workspace.ts';
import { defineEvent, sha256Schema, taskRef } from './define.ts';
import { scopeSchema } from './scope.ts';

/** What a fix is told: the root's intent once and verbatim, what objected, and everything that failed before. */
export const briefSchema = z.object({
  intent: z.string(),
  justifications: z.array(z.object({ validator: z.string(), severity: z.string(), justification: z.string() })),
  prior_failures: z.array(
    z.object({
      attempt: z.int(),
      task: z.string(),
      validator: z.string(),
      severity: z.string(),
      justification: z.string(),
    }),
  ),
});
export type Brief = z.infer<typeof briefSchema>;

const subtaskSpawned = defineEvent({
  type: 'subtask_spawned',
  owners: ['orchestrator'],
  version: 1,
  description: 'A fix task was spawned by a failed judgement; charged here, before it runs.',
  data: z.object({
    root: z.string(),
    parent_ref: z.string(),
    task_ref: z.string(),
    address: z.string(),
    /** The unit whose closure pays. */
    unit: z.string(),
    scope: scopeSchema,
    /** `parent.depth + 1`. */
    depth: z.int().positive(),
    /** Fix links up to the unit. */
    recovery_depth: z.int().positive(),
    /** Absolute: fix tasks of this closure including this one. */
    fix_attempts: z.int().positive(),
    triggering_validators: z.array(z.string()),
    nodes: z.array(nodeSpecSchema).min(1),
    spec_hash: sha256Schema,
    brief: briefSchema,
    /** The judged run and where its result is: the fix starts there. */
    judged_run: z.int().positive(),
    workspace_ref: workspaceRefSchema.nullable(),
    signature: z.string(),
    auto_decomposed: z.literal(false),
  }),
});

const recoveryResolved = defineEvent({
  type: 'recovery_resolved',
  owners: ['orchestrator'],
  version: 1,
  description: 'Fixpoint: a clean judgement of the unit and no open fix.',
  data: z.object({
    ...taskRef,
    run: z.int().positive(),
    depth: z.int().nonnegative(),
    attempts_used: z.int().nonnegative(),
  }),
});

const recoveryExhausted = defineEvent({
  type: 'recovery_exhausted',
  owners: ['orchestrator'],
  version: 1,
  description: 'A bound ended the closure; all its open fixes end here.',
  data: z.object({
    ...taskRef,
    reason: z.enum(['max_recovery_depth', 'max_total_fix_attempts', 'iterations', 'no_fix', 'fix_blocked']),
    limit: z.int().nonnegative(),
    used: z.int().nonnegative(),
    asked: z.int().nonnegative(),
    depth: z.int().nonnegative(),
    halt_type: haltTypeSchema,
    raw_halt_type: z.string(),
    triggering_validators: z.array(z.string()),
    ended_tasks: z.array(z.string()),
  }),
});

const recoveryStalled = defineEvent({
  type: 'recovery_stalled',
  owners: ['orchestrator'],
  version: 1,
  description: 'The same judgement of the same tree twice: more of the same can not help. All open fixes end here.',
  data: z.object({
    ...taskRef,
    signature: z.string(),
    attempts_used: z.int().nonnegative(),
    depth: z.int().nonnegative(),
    halt_type: haltTypeSchema,
    raw_halt_type: z.string(),
    triggering_validators: z.array(z.string()),
    ended_tasks: z.array(z.string()),
  }),
});

export const recoveryEvents = [subtaskSpawned, recoveryResolved, recoveryExhausted, recoveryStalled] as const;
