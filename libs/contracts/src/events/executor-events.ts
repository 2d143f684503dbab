import { z } from 'zod';
import { policySchema } from '../documents/task.ts';
import { jsonSchema } from '../json.ts';
import { workspaceRefSchema } from '../workspace.ts';
import { defineEvent, runRef, sha256Schema } from './define.ts';
import { MOST_CONFLICTS } from './landing.ts';

export const rungSchema = z.enum(['skip', 'recipe', 'self_repair', 'agent', 'check', 'none']);
export type Rung = z.infer<typeof rungSchema>;

/** Classes of machinery faults, told by structure and never by grepping output. */
export const faultClassSchema = z.enum([
  'lost_executor',
  /** A worker let the lease of its job run out, or said that it can not work. */
  'lost_worker',
  'shutdown',
  'workspace',
  /** The source says that it has no such ref, or no git can read its address: trying again can not help. */
  'source',
  'network',
  'rate_limit',
  'provider_auth',
  'disk',
  'run_timeout',
  'no_answer',
  'internal',
]);
export type FaultClass = z.infer<typeof faultClassSchema>;

/** What a stream of a process printed: ends inline (4 KiB each, control characters kept), whole as artifact. */
export const capturedOutputSchema = z.object({
  hash: sha256Schema.nullable(),
  bytes: z.int().nonnegative(),
  head: z.string(),
  tail: z.string(),
  truncated: z.boolean(),
});
export type CapturedOutput = z.infer<typeof capturedOutputSchema>;

const actionStarted = defineEvent({
  type: 'action_started',
  owners: ['executor'],
  version: 1,
  description: 'An executor took the run: the token is used. Version 1 of the action stream.',
  data: z.object({ ...runRef, owner: z.string(), token_id: z.string(), run_kind: z.string(), node_id: z.string() }),
});

const toolCalled = defineEvent({
  type: 'tool_called',
  owners: ['executor'],
  version: 1,
  description: 'One command, script, primitive or check was run, or refused by a command rule.',
  data: z.object({
    ...runRef,
    /** 1-based within the run. */
    seq: z.int().positive(),
    rung: rungSchema,
    tool: z.enum([
      'recipe',
      'self_repair',
      'postcondition',
      'repair_model',
      'agent_model',
      'agent',
      'merge',
      'deliver',
    ]),
    /** As run; cut at 8 KiB with an explicit mark. */
    command: z.string(),
    outcome: z.enum(['ok', 'failed', 'denied', 'timed_out', 'killed', 'not_started', 'cancelled', 'declined']),
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    duration_ms: z.number(),
    /** Command rule that denied it, or playbook rule that proposed it. */
    rule: z.string().nullable(),
    detail: z.string(),
    stdout: capturedOutputSchema.nullable(),
    stderr: capturedOutputSchema.nullable(),
  }),
});

export const runOutcomeSchema = z.enum(['satisfied', 'unmet', 'degraded', 'indeterminate', 'faulted', 'cancelled']);
export type RunOutcome = z.infer<typeof runOutcomeSchema>;

const nodeVerifiedAction = defineEvent({
  type: 'node_verified_action',
  owners: ['executor'],
  version: 3,
  description: 'The one end of a run that started: what was done and what the postcondition says.',
  data: z.object({
    ...runRef,
    node_id: z.string(),
    run_kind: z.string(),
    outcome: runOutcomeSchema,
    fault_class: faultClassSchema.nullable(),
    /** Last rung that executed something. */
    rung: rungSchema,
    policy: policySchema,
    /** Null without a postcondition. */
    postcondition_met: z.boolean().nullable(),
    /** Exit code of the last recipe or repair; null when none ran or it was killed. */
    exit_code: z.int().nullable(),
    recipe_hash: sha256Schema,
    /** Hash of the command that was last run in place of the recipe; null when the recipe stood. */
    repaired_command: z.string().nullable(),
    /** Null when the run left no workspace (fault before one existed). */
    workspace_ref: workspaceRefSchema.nullable(),
    /** The node's output (stdout as JSON, else text) when ≤ 32 KiB, else null with `output_artifact`. */
    output: jsonSchema,
    output_artifact: sha256Schema.nullable(),
    /** What failed, for people and repairs: bounded excerpts with an explicit mark where cut. */
    detail: z.string(),
    /** A protected path, the postcondition or a validator definition changed during the run. */
    firewall_broken: z.string().nullable(),
    spent: z.object({ duration_ms: z.number(), money_micros: z.int(), tokens: z.int() }),
    /** Where two sides of a merge clashed, some of it where it is much; `workspace_ref` has our side there. Null: nothing was merged. */
    merge_conflicts: z.array(z.string()).max(MOST_CONFLICTS).nullable(),
    /** Whose machinery failed where it was not ours, and how long it asked to be left alone (0: it did not say). */
    provider_fault: z
      .object({ provider: z.string().regex(/^(?:git|model)\.[\w.-]+$/), retry_after_ms: z.int().nonnegative() })
      .nullable(),
  }),
  upcasts: [
    (data: Record<string, unknown>) => ({ merge_conflicts: null, ...data }),
    (data: Record<string, unknown>) => ({ provider_fault: null, ...data }),
  ],
});

const resultDelivered = defineEvent({
  type: 'result_delivered',
  owners: ['executor'],
  version: 1,
  description: 'The result stands where the task wants it: the source was asked and said so.',
  data: z.object({
    ...runRef,
    url: z.string(),
    branch: z.string(),
    commit: z.string().regex(/^[0-9a-f]{40}$/),
    /** It stood there before this run. */
    already: z.boolean(),
  }),
});

const runRefused = defineEvent({
  type: 'run_refused',
  owners: ['executor'],
  version: 1,
  description:
    'The run never started: its token was not good, or what it needs is not there. Gated anew, counted nowhere.',
  data: z.object({
    ...runRef,
    reason: z.enum(['token_expired', 'token_invalid', 'protocol_unknown', 'sandbox_unavailable', 'network_forbidden']),
    detail: z.string(),
  }),
});

export const executorEvents = [actionStarted, toolCalled, nodeVerifiedAction, resultDelivered, runRefused] as const;
