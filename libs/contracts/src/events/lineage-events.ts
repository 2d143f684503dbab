import { z } from 'zod';
import { protocolRefSchema } from '../documents/protocol.ts';
import { nodeSpecSchema, taskSpecSchema } from '../documents/task.ts';
import { gitSourceSchema, workspaceRefSchema } from '../workspace.ts';
import { allowanceSchema, budgetEvents } from './budget-events.ts';
import { defineEvent, runRef, sha256Schema, taskRef } from './define.ts';
import { endedEvents } from './ended-events.ts';
import { epicEvents } from './epic-events.ts';
import { originSchema } from './escalation-events.ts';
import { handoffEvents } from './handoff-events.ts';
import { deliverySchema, mergeSchema } from './landing.ts';
import { nodeReadyUpcasts } from './node-ready-upcasts.ts';
import { protocolPublished, protocolWithdrawn } from './protocol-events.ts';
import { providerEvents } from './provider-events.ts';
import { queueFields } from './queue-events.ts';
import { briefSchema, recoveryEvents } from './recovery-events.ts';
import { runKindSchema, taskKindSchema } from './run-kind.ts';
import { scopeSchema } from './scope.ts';
import { stallContextSchema, stallEvents } from './stall-events.ts';

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
    /** The lineage's own source, where the run starts from a ref that a human named and there is no workspace of it yet. */
    compared_with: gitSourceSchema.optional(),
    keep: z.array(z.string()),
    /** Lists of globs of the workspace: what the run changes is under some glob of each. Left out: it may change anything. */
    paths: z.array(z.array(z.string()).min(1)).min(1).optional(),
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
    .omit({ compared_with: true, paths: true })
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

export const lineageEvents = [
  taskSubmitted,
  nodeReady,
  nodeQueued,
  ...endedEvents,
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
