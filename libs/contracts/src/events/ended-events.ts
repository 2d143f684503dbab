import { z } from 'zod';
import { jsonSchema } from '../json.ts';
import { haltTypeSchema, verdictSchema } from '../verdict.ts';
import { workspaceRefSchema } from '../workspace.ts';
import { defineEvent, runRef, sha256Schema, taskRef } from './define.ts';
import { faultClassSchema, runOutcomeSchema } from './executor-events.ts';
import { runKindSchema } from './run-kind.ts';

/** Absolute values per node; they never fall while the node is open. */
export const nodeCountersSchema = z.object({
  /** `normal` runs that ended `unmet`. */
  execute: z.int().nonnegative(),
  /** Failed judgements for which no fix is possible. */
  judge: z.int().nonnegative(),
  /** All runs that ended with evidence. */
  iterations: z.int().nonnegative(),
  /** Checks that could not run. */
  indeterminate: z.int().nonnegative(),
});
export type NodeCounters = z.infer<typeof nodeCountersSchema>;

const runCounted = defineEvent({
  type: 'run_counted',
  owners: ['orchestrator'],
  version: 1,
  description:
    'A run ended without completing its node: what it showed and the counters after it. Stands in one append with what follows.',
  data: z.object({
    ...runRef,
    node_id: z.string(),
    run_kind: runKindSchema,
    outcome: runOutcomeSchema,
    /** What the judgement said; null when there was none. */
    judged: z.string().nullable(),
    /** Signature of the failed judgement, or of the failed check inside a fix; else null. */
    signature: z.string().nullable(),
    counters: nodeCountersSchema,
    /** Agent runs of the unit that are used up, where it has had one. */
    agent_attempts: z.int().positive().optional(),
    rung: z.string(),
    exit_code: z.int().nullable(),
    recipe_hash: sha256Schema,
    workspace_ref: workspaceRefSchema.nullable(),
    output: jsonSchema,
    output_artifact: sha256Schema.nullable(),
    /** When the check that could not run is tried again (ISO); null when nothing waits for time. */
    next_at: z.string().nullable(),
  }),
});

const nodeSkipped = defineEvent({
  type: 'node_skipped',
  owners: ['orchestrator'],
  version: 1,
  description: 'The condition of a node does not hold: it is not run and puts out nothing. The next node follows.',
  data: z.object({
    ...taskRef,
    node_id: z.string(),
    node_index: z.int().nonnegative(),
    /** CEL, as in the task. */
    condition: z.string(),
    /** Runs of the task before it. */
    runs: z.int().nonnegative(),
  }),
});

const nodeCompleted = defineEvent({
  type: 'node_completed',
  owners: ['orchestrator'],
  version: 1,
  description: 'A node is done: satisfied or degraded, and judged good. The accepted workspace moves here.',
  data: z.object({
    ...runRef,
    node_id: z.string(),
    node_index: z.int().nonnegative(),
    outcome: z.enum(['satisfied', 'degraded']),
    /** Agent runs of the unit that are used up, where it has had one. */
    agent_attempts: z.int().positive().optional(),
    rung: z.string(),
    workspace_ref: workspaceRefSchema.nullable(),
    output: jsonSchema,
    output_artifact: sha256Schema.nullable(),
  }),
});

const taskCompleted = defineEvent({
  type: 'task_completed',
  owners: ['orchestrator'],
  version: 1,
  description: 'Every node of the task is done. Terminal.',
  data: z.object({
    ...taskRef,
    outcome: z.enum(['satisfied', 'degraded']),
    workspace_ref: workspaceRefSchema.nullable(),
    output: jsonSchema,
    output_artifact: sha256Schema.nullable(),
    runs: z.int().nonnegative(),
    fix_attempts: z.int().nonnegative(),
  }),
});

const taskBlocked = defineEvent({
  type: 'task_blocked',
  owners: ['orchestrator'],
  version: 1,
  description: 'A hard stop: a non-overridable blocker or an error. Terminal; nothing is auto-fixed (INV3).',
  data: z.object({
    ...taskRef,
    run: z.int().positive(),
    halt_type: haltTypeSchema,
    raw_halt_type: z.string(),
    verdicts: z.array(verdictSchema),
    detail: z.string(),
    /** Runs used by the task. */
    runs: z.int().nonnegative(),
  }),
});

const faultRecorded = defineEvent({
  type: 'fault_recorded',
  owners: ['orchestrator'],
  version: 2,
  description: 'The machinery failed: no evidence, no attempt, no demotion. A new run follows at `next_at`.',
  data: z.object({
    ...runRef,
    phase: z.enum(['gate', 'action', 'judge', 'council', 'check']),
    class: faultClassSchema,
    /** Absolute total of this class in this unit, and what it was at the last evidence. */
    count: z.int().positive(),
    count_at_last_evidence: z.int().nonnegative(),
    next_at: z.string(),
    /** What starts then: the same kind of run from where it started, or a check of what it left. Null for a council. */
    next_run: z
      .object({
        run_kind: runKindSchema,
        workspace_ref: workspaceRefSchema.nullable(),
        judges: z.int().positive().nullable(),
      })
      .nullable(),
    /** What the run had put out before it could not be judged; else null. */
    output: jsonSchema,
    output_artifact: sha256Schema.nullable(),
    detail: z.string(),
    /** Model or host that the fault speaks of; null for the machinery of our own. */
    provider: z.string().nullable(),
    /** What the provider asked for; 0: nothing. */
    retry_after_ms: z.int().nonnegative(),
  }),
  upcasts: [(data: object) => ({ provider: null, retry_after_ms: 0, ...data })],
});

/** What runs, nodes and tasks came to. */
export const endedEvents = [runCounted, nodeSkipped, nodeCompleted, taskCompleted, taskBlocked, faultRecorded] as const;
