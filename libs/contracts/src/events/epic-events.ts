import { z } from 'zod';
import { inputNameSchema, nodeSpecSchema, partSpecSchema } from '../documents/task.ts';
import { jsonSchema } from '../json.ts';
import { workspaceRefSchema } from '../workspace.ts';
import { defineEvent, sha256Schema, taskRef } from './define.ts';
import { originSchema } from './escalation-events.ts';
import { briefSchema } from './recovery-events.ts';
import { scopeSchema } from './scope.ts';

/** What failed before, and must not be repeated; the intent stands in the lineage's first event, once. */
const failureSignalSchema = briefSchema.omit({ intent: true });
export type FailureSignal = z.infer<typeof failureSignalSchema>;

/** A child as it is made: everything that its runs need and that is not the lineage's. */
const childSchema = z.object({
  task: z.string(),
  address: z.string(),
  name: z.string(),
  goal: z.string(),
  inputs: z.record(inputNameSchema, jsonSchema),
  nodes: z.array(nodeSpecSchema),
  spec_hash: sha256Schema,
  /** Lands the part of the parent's work that is good already. */
  salvage: z.boolean(),
  /** How it may be cut itself, should it stall. */
  parts: z.array(partSpecSchema),
  /** Globs of the workspace that its part declares: it may change nothing else. Left out: it may change anything. */
  paths: z.array(z.string()).min(1).optional(),
  failure_signal: failureSignalSchema,
});
export type ChildSpec = z.infer<typeof childSchema>;

const goodOutcomeSchema = z.enum(['satisfied', 'degraded']);

const epicOpened = defineEvent({
  type: 'epic_opened',
  owners: ['orchestrator'],
  version: 1,
  description:
    'A unit was split: all its children at once, once in its life. They do the work, and the unit is superseded.',
  data: z.object({
    ...taskRef,
    scope: scopeSchema,
    epic: z.string(),
    /** The request to the council that it answers; null when a producer declared the children. */
    request: z.int().positive().nullable(),
    kind: z.enum(['split', 'container']),
    /** Assembled and verified again, or done when its children are. */
    closes_by: z.enum(['recompose', 'rollup']),
    /** Where the ref begins that children are merged into; null for the lineage's source. */
    base_ref: workspaceRefSchema.nullable(),
    children: z.array(childSchema).min(1),
    /** Split links from the root down to the children. */
    split_depth: z.int().positive(),
    /** Absolute: children made in the lineage, including these. */
    lineage_children: z.int().positive(),
    /** Fixes of the unit that end here. */
    ended_tasks: z.array(z.string()),
    /** Runs of the unit that end here. */
    revoked_runs: z.array(z.int().positive()),
    auto_decomposed: z.boolean(),
  }),
});

const childSubmitted = defineEvent({
  type: 'child_submitted',
  owners: ['orchestrator'],
  version: 2,
  description:
    'A run submitted work of its own, or a producer handed over work that it could not finish: a child of the unit, which does not complete without it.',
  data: z.object({
    ...taskRef,
    scope: scopeSchema,
    child: childSchema,
    /** The unit, or the fix of it whose run submitted it. */
    from_task: z.string(),
    /** The run that submitted it; null for what a producer handed over. */
    run: z.int().positive().nullable(),
    /** The node that was running; empty for what a producer handed over. */
    node_id: z.string(),
    /** The same key names the same child, in every run of the node or from the same producer. */
    key: z.string(),
    /** What a producer knew of it; null for what a run submitted. */
    origin: originSchema.nullable(),
    /** Where the child starts: where the run that submitted it started. */
    base_ref: workspaceRefSchema.nullable(),
    priority: z.int(),
    split_depth: z.int().positive(),
    lineage_children: z.int().positive(),
  }),
  upcasts: [(data: object) => ({ ...data, origin: null })],
});

const epicChildResolved = defineEvent({
  type: 'epic_child_resolved',
  owners: ['orchestrator'],
  version: 1,
  description: 'A child is done, and what it left stands in the ref of its epic.',
  data: z.object({
    ...taskRef,
    /** Null for a child that a run submitted: nothing of it is merged. */
    epic: z.string().nullable(),
    child: z.string(),
    outcome: goodOutcomeSchema,
    /** The ref of the epic from now on; null for the lineage's source. */
    epic_ref: workspaceRefSchema.nullable(),
    output: jsonSchema,
    output_artifact: sha256Schema.nullable(),
    /** Children that are neither resolved nor excluded. */
    left: z.int().nonnegative(),
  }),
});

const integrationFailed = defineEvent({
  type: 'integration_failed',
  owners: ['orchestrator'],
  version: 1,
  description:
    'A verified child could not be merged into its epic, or its check does not hold there. It runs again from the merge.',
  data: z.object({
    ...taskRef,
    epic: z.string(),
    run: z.int().positive(),
    /** Absolute: failed merges of this child, including this one. */
    conflicts: z.int().positive(),
    limit: z.int().positive(),
    paths: z.array(z.string()),
    /** The ref of the epic that it was merged into: the child's base from now on. */
    base_ref: workspaceRefSchema.nullable(),
    /** The merge in which the epic's side wins: the child goes on from here. */
    workspace_ref: workspaceRefSchema.nullable(),
    /** The child's own version. */
    own_ref: workspaceRefSchema.nullable(),
    failure_signal: failureSignalSchema,
    detail: z.string(),
  }),
});

const childExcluded = defineEvent({
  type: 'child_excluded',
  owners: ['orchestrator'],
  version: 1,
  description: 'A human decided that the epic closes without this child.',
  data: z.object({
    ...taskRef,
    /** Null for a child that a run submitted. */
    epic: z.string().nullable(),
    child: z.string(),
    /** The handoff that was decided. */
    decision: z.string(),
    reason: z.string(),
  }),
});

const recomposeStarted = defineEvent({
  type: 'recompose_started',
  owners: ['orchestrator'],
  version: 1,
  description: 'All children are done: the unit is assembled from their ref and verified again.',
  data: z.object({
    ...taskRef,
    epic: z.string(),
    attempt: z.int().positive(),
    /** The node that had stalled; later nodes follow. */
    node_index: z.int().nonnegative(),
    workspace_ref: workspaceRefSchema.nullable(),
  }),
});

const recomposeFailed = defineEvent({
  type: 'recompose_failed',
  owners: ['orchestrator'],
  version: 1,
  description: 'The assembly did not hold. What the children proved stays; it is tried again at `next_at`.',
  data: z.object({
    ...taskRef,
    epic: z.string(),
    /** Absolute: failed recomposes of this epic, including this one. */
    attempt: z.int().positive(),
    limit: z.int().positive(),
    /** What failed, comparable; null when nothing is known of it. */
    signature: z.string().nullable(),
    reason: z.string(),
    /** ISO; null when nothing is tried any more without a human. */
    next_at: z.string().nullable(),
    /** The same as the time before. */
    repeated: z.boolean(),
  }),
});

const epicClosed = defineEvent({
  type: 'epic_closed',
  owners: ['orchestrator'],
  version: 1,
  description: 'All children are done and so is the unit: success, and once.',
  data: z.object({
    ...taskRef,
    epic: z.string(),
    by: z.enum(['recompose', 'rollup']),
    outcome: goodOutcomeSchema,
    children: z.int().positive(),
    excluded: z.int().nonnegative(),
  }),
});

const splitRefused = defineEvent({
  type: 'split_refused',
  owners: ['orchestrator'],
  version: 1,
  description: 'The council said yes, and the split is not made: all its children or none.',
  data: z.object({
    ...taskRef,
    request: z.int().positive(),
    reason: z.enum(['children', 'depth', 'already_split', 'fix', 'too_large', 'unusable']),
    detail: z.string(),
    asked: z.int().nonnegative(),
    budget: z.object({ children_left: z.int().nonnegative(), depth_left: z.int().nonnegative() }),
    /** The council is asked once more, with this budget. */
    asked_again: z.boolean(),
  }),
});

export const epicEvents = [
  epicOpened,
  childSubmitted,
  epicChildResolved,
  integrationFailed,
  childExcluded,
  recomposeStarted,
  recomposeFailed,
  epicClosed,
  splitRefused,
] as const;
