import { z } from 'zod';
import { protocolRefSchema } from '../documents/protocol.ts';
import { inputNameSchema, nodeSpecSchema, partSpecSchema } from '../documents/task.ts';
import { jsonSchema } from '../json.ts';
import { haltTypeSchema } from '../verdict.ts';
import { gitSourceSchema, workspaceRefSchema } from '../workspace.ts';
import { requestToVersion2 } from './council-upcasts.ts';
import { defineEvent, taskRef } from './define.ts';
import { briefSchema } from './recovery-events.ts';
import { scopeSchema } from './scope.ts';

/** What was used up; `recovery` for one that ended otherwise, `escalation` for what came in stalled. */
const stallCounterSchema = z.enum([
  'execute',
  'judge',
  'fix',
  'iterations',
  'recovery',
  'integrate',
  'recompose',
  'escalation',
]);

/** Everything that is known of a stall, for whoever tries to end it. */
export const stallContextSchema = z.object({
  counter: stallCounterSchema,
  halt_type: haltTypeSchema,
  raw_halt_type: z.string(),
  detail: z.string(),
  /** This attempt, and how many there may be. */
  attempt: z.int().positive(),
  attempts: z.int().positive(),
  /** The model that acts as the agent. */
  model: z.string(),
  /** Where the unit's last run ended: from `workspace_ref` to here is the diff so far. */
  diff: workspaceRefSchema.nullable(),
});

const taskStalled = defineEvent({
  type: 'task_stalled',
  owners: ['orchestrator'],
  version: 1,
  description: 'The unit used up a counter or its recovery ended.',
  data: z.object({
    ...taskRef,
    run: z.int().positive(),
    counter: stallCounterSchema,
    limit: z.int().nonnegative(),
    used: z.int().nonnegative(),
    halt_type: haltTypeSchema,
    raw_halt_type: z.string(),
    /** The automatic agent is the first step of the stall pipeline; skipped, and said so, without a model. */
    auto_agent: z.discriminatedUnion('outcome', [
      z.object({ outcome: z.literal('skipped'), reason: z.string() }),
      z.object({ outcome: z.literal('available'), model: z.string(), attempts: z.int().positive() }),
    ]),
    /** What the last run, the council's question or the escalation said; for agents, the council and people. */
    detail: z.string().optional(),
    /** The node that may not begin, where the task comes back to one that it had left; left out: the current one. */
    node_index: z.int().nonnegative().optional(),
  }),
});

const affinityChanged = defineEvent({
  type: 'affinity_changed',
  owners: ['orchestrator'],
  version: 1,
  description: 'The rank of a unit changed; absolute values.',
  data: z.object({
    ...taskRef,
    from: z.int(),
    to: z.int(),
    reason: z.enum(['stalled', 'completed', 'recompose_started', 'recompose_failed', 'decided', 'expired']),
  }),
});

/** What the council may use: the service stops inside it. */
const councilBudgetSchema = z.object({
  children_left: z.int().nonnegative(),
  depth_left: z.int().nonnegative(),
  time_ms: z.int().positive(),
  money_micros: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
});

const decompositionRequested = defineEvent({
  type: 'decomposition_requested',
  owners: ['orchestrator'],
  version: 2,
  upcasts: [requestToVersion2],
  description: 'A stalled unit asks the council for a split.',
  data: z.object({
    ...taskRef,
    request: z.int().positive(),
    scope: scopeSchema,
    protocol: protocolRefSchema,
    /** The root's goal, verbatim. */
    intent: z.string(),
    /** The unit's own. */
    goal: z.string(),
    /** The node that stalled, with its values filled in; null for a container, which has none of its own. */
    node: nodeSpecSchema.nullable(),
    /** All of the unit, as they stand in its spec; empty where an event has no room for them. */
    nodes: z.array(nodeSpecSchema),
    inputs: z.record(inputNameSchema, jsonSchema),
    /** Cuts that the unit itself declares; null when it declares none, or an event has no room for them. */
    declared_parts: z.array(partSpecSchema).nullable(),
    split_depth: z.int().nonnegative(),
    halt_type: haltTypeSchema,
    raw_halt_type: z.string(),
    /** The run that the unit stalled with: its verdicts and output are on its own streams. */
    stalled_run: z.int().positive().nullable(),
    /** What failed before, oldest first; the newest are kept where there is no room for all. */
    failures: briefSchema.shape.prior_failures,
    /** What a human says about where to cut. */
    hint: z.string().nullable(),
    /** What was accepted, and where the unit's last run ended: between them is the diff so far. */
    base_ref: workspaceRefSchema.nullable(),
    workspace_ref: workspaceRefSchema.nullable(),
    source: gitSourceSchema.nullable(),
    budget: councilBudgetSchema,
  }),
});

const splitExcluded = defineEvent({
  type: 'split_excluded',
  owners: ['orchestrator'],
  version: 1,
  description: 'A stalled unit is not split, and no model was asked: why. A human is next.',
  data: z.object({
    ...taskRef,
    reason: z.enum(['human_held', 'already_split', 'fix', 'machinery', 'depth', 'children']),
    budget: z.object({ children_left: z.int().nonnegative(), depth_left: z.int().nonnegative() }),
  }),
});

const deadlinePassed = defineEvent({
  type: 'deadline_passed',
  owners: ['orchestrator'],
  version: 1,
  description: 'The lineage used up its time: open runs end inside their allowance, nothing new starts.',
  data: z.object({ ...taskRef, deadline_at: z.string() }),
});

export const stallEvents = [
  taskStalled,
  affinityChanged,
  decompositionRequested,
  splitExcluded,
  deadlinePassed,
] as const;
