import { z } from 'zod';
import { protocolRefSchema } from '../documents/protocol.ts';
import { nodeSpecSchema, taskSpecSchema } from '../documents/task.ts';
import { jsonSchema } from '../json.ts';
import { haltTypeSchema, verdictSchema } from '../verdict.ts';
import { gitSourceSchema, workspaceRefSchema } from '../workspace.ts';
import { allowanceSchema, budgetEvents } from './budget-events.ts';
import { defineEvent, runRef, sha256Schema, taskRef } from './define.ts';
import { epicEvents } from './epic-events.ts';
import { originSchema } from './escalation-events.ts';
import { faultClassSchema, runOutcomeSchema } from './executor-events.ts';
import { handoffEvents } from './handoff-events.ts';
import { deliverySchema, mergeSchema } from './landing.ts';
import { nodeReadyUpcasts } from './node-ready-upcasts.ts';
import { protocolPublished, protocolWithdrawn } from './protocol-events.ts';
import { providerEvents } from './provider-events.ts';
import { queueFields } from './queue-events.ts';
import { briefSchema, recoveryEvents } from './recovery-events.ts';
import { scopeSchema } from './scope.ts';
import { stallContextSchema, stallEvents } from './stall-events.ts';

/**
 * `normal` climbs the ladder, `check` asks the postcondition alone, `agent` is rung 4 alone, `integrate` merges a child
 * into its epic, `deliver` hands the result over.
 */
export const runKindSchema = z.enum(['normal', 'check', 'agent', 'integrate', 'deliver']);
export type RunKind = z.infer<typeof runKindSchema>;

/** Roots and children are units, each with a recovery closure of its own; a `fix` belongs to one. */
export const taskKindSchema = z.enum(['root', 'child', 'fix']);
export type TaskKind = z.infer<typeof taskKindSchema>;

const taskSubmitted = defineEvent({
  type: 'task_submitted',
  owners: ['orchestrator'],
  version: 1,
  description: 'A root task was admitted. Version 1 of its lineage.',
  data: z.object({
    ...taskRef,
    scope: scopeSchema,
    spec: taskSpecSchema,
    spec_hash: sha256Schema,
    /** Pinned for the whole lineage. */
    protocol: protocolRefSchema,
    /** Null when the caller gave none (the root is then random). */
    idempotency_key: z.string().nullable(),
    submitted_at: z.string(),
    /** When the whole lineage must have ended (ISO). */
    deadline_at: z.string(),
    /** Where it came from; left out where somebody submitted it. */
    origin: originSchema.optional(),
  }),
});

const nodeReady = defineEvent({
  type: 'node_ready',
  owners: ['orchestrator'],
  version: 2,
  description: 'One run of one node is to be gated, executed and judged. Carries everything that needs to be known.',
  data: z.object({
    ...runRef,
    task_kind: taskKindSchema,
    run_kind: runKindSchema,
    /** Why this run exists; for readers, never decided on. */
    purpose: z.enum([
      'first',
      'next_node',
      'again',
      'after_fix',
      'after_fault',
      'check_again',
      'met_meanwhile',
      'escalated',
      'auto_agent',
      'regate',
      /** Verified work is to be brought where it belongs. */
      'landing',
      'recompose',
      'decided',
    ]),
    node: nodeSpecSchema,
    /** 0-based place in the task. */
    node_index: z.int().nonnegative(),
    last_node: z.boolean(),
    scope: scopeSchema,
    protocol: protocolRefSchema,
    /** The root's goal, verbatim. */
    intent: z.string(),
    brief: briefSchema.nullable(),
    spec_hash: sha256Schema,
    /** Null before the lineage's first result: start from `source`. */
    workspace_ref: workspaceRefSchema.nullable(),
    source: gitSourceSchema.nullable(),
    keep: z.array(z.string()),
    /** The run whose result is judged again (check run of a node without a postcondition); else null. */
    judges: z.int().positive().nullable(),
    /** Null: all validators of the mode that apply. Else: these and all `on: node` ones (inside a fix). */
    judged_by: z.array(z.string()).nullable(),
    /** What an agent is told of the stall that it is to end; only of agent runs. */
    stalled: stallContextSchema.optional(),
    /** The run stops inside it; money and tokens are reserved, and nothing where no model can be asked. */
    allowance: allowanceSchema,
    work_class: z.enum(['normal', 'low']),
    merge: mergeSchema.nullable(),
    deliver: deliverySchema.nullable(),
    /** The earlier run whose recorded verdicts are decided anew; nobody is asked where they speak of this spec and tree. */
    verdicts_of: z.int().positive().nullable(),
    /** Signed decisions of humans that this run rests on (JWS; see human-decision.ts). */
    decisions: z.array(z.string()),
  }),
  upcasts: nodeReadyUpcasts,
});
export type NodeReady = z.infer<typeof nodeReady.data>;

const nodeQueued = defineEvent({
  type: 'node_queued',
  owners: ['orchestrator'],
  version: 1,
  description: 'A run waits for its turn. `node_ready` of the same number follows, unless the task ends before.',
  data: nodeReady.data
    // Said when it starts: the task has them meanwhile.
    .omit({ node: true, intent: true, brief: true, keep: true, judged_by: true, protocol: true })
    .omit({ last_node: true, scope: true, spec_hash: true, allowance: true, work_class: true })
    .extend(queueFields),
});
export type NodeQueued = z.infer<typeof nodeQueued.data>;

export const runRevoked = defineEvent({
  type: 'run_revoked',
  owners: ['orchestrator'],
  version: 1,
  description:
    'The orchestrator gave a run up before it started. Version 1 of the action stream, so it can never start.',
  data: z.object({ ...runRef, reason: z.string() }),
});

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

export const lineageEvents = [
  taskSubmitted,
  nodeReady,
  nodeQueued,
  runCounted,
  nodeSkipped,
  nodeCompleted,
  taskCompleted,
  taskBlocked,
  faultRecorded,
  ...recoveryEvents,
  ...stallEvents,
  ...epicEvents,
  ...handoffEvents,
  ...budgetEvents,
] as const;

export const orchestratorEvents = [
  ...lineageEvents,
  runRevoked,
  protocolPublished,
  protocolWithdrawn,
  ...providerEvents,
] as const;
