import { z } from 'zod';
import { onExpirySchema } from '../documents/protocol.ts';
import { nodeSpecSchema } from '../documents/task.ts';
import { authenticatedSchema, decisionKindSchema, decisionSchema } from '../human-decision.ts';
import { haltTypeSchema, verdictSchema } from '../verdict.ts';
import { workspaceRefSchema } from '../workspace.ts';
import { defineEvent, sha256Schema, taskRef } from './define.ts';

/** Which kind of help: it can not, it must not, a choice, the machinery, money or time. */
export const helpSchema = z.enum(['cannot_act', 'needs_authority', 'choice', 'infrastructure', 'budget']);
export type Help = z.infer<typeof helpSchema>;

/** Where the work stands still; what a human may do follows from it. `held`: an epic with a child that never resolves. */
export const stageSchema = z.enum([
  'floor',
  'judgement',
  'infrastructure',
  'budget',
  'recompose',
  'integrate',
  'deliver',
  'held',
]);
export type Stage = z.infer<typeof stageSchema>;

const STAGES: Readonly<Record<Help, Stage>> = {
  cannot_act: 'floor',
  needs_authority: 'judgement',
  choice: 'judgement',
  infrastructure: 'infrastructure',
  budget: 'budget',
};

/** Where a cause of that kind stands when nobody says otherwise. */
export const stageOfHelp = (help: Help): Stage => STAGES[help];

const causeOfHandoff = z.object({
  halt_type: haltTypeSchema,
  raw_halt_type: z.string(),
  help: helpSchema,
  detail: z.string(),
  /** The dead letter that it is about, by which it is known when it is heard of once more; left out: about none. */
  letter: z.object({ reader: z.string(), event_id: z.string(), deliveries: z.int().positive() }).optional(),
});

/** The recorded verdicts that `approve` and `override` decide anew. */
export const judgedSchema = z.object({
  phase: z.enum(['gate', 'judge']),
  run: z.int().positive(),
  run_kind: z.string(),
  /** As in `node_ready` of that run. */
  judges: z.int().positive().nullable(),
  spec_hash: sha256Schema,
  /** What was looked at: the start of the run at the gate, its result afterwards. */
  workspace_ref: workspaceRefSchema.nullable(),
});
export type Judged = z.infer<typeof judgedSchema>;

const triedSchema = z.object({
  runs: z.int().nonnegative(),
  fix_attempts: z.int().nonnegative(),
  rungs: z.array(z.string()),
  /** What each fix was to mend; cut with a mark where long. */
  fixes: z.array(z.object({ attempt: z.int(), task: z.string(), validator: z.string(), justification: z.string() })),
  council: z.string().nullable(),
  auto_agent: z.string().nullable(),
});

type Before<Field extends string> = Readonly<Record<string, unknown>> & Readonly<Record<Field, unknown>>;

const humanRequired = defineEvent({
  type: 'human_required',
  owners: ['orchestrator'],
  version: 2,
  description: 'The floor: the smallest failing slice is with a human.',
  data: z.object({
    ...taskRef,
    handoff: z.string(),
    /** Decisions name it, and are refused when it has moved on. */
    version: z.int().positive(),
    stage: stageSchema,
    ...causeOfHandoff.shape,
    slice: z.object({ task: z.string(), node_id: z.string().nullable(), run: z.int().nullable(), goal: z.string() }),
    tried: triedSchema,
    verdicts: z.array(verdictSchema),
    judged: judgedSchema.nullable(),
    workspace_ref: workspaceRefSchema.nullable(),
    /** What the last run that ended showed, and from where the unit goes on; null before any ended. */
    evidence: z
      .object({
        run: z.int().positive(),
        outcome: z.string(),
        exit_code: z.int().nullable(),
        workspace_ref: workspaceRefSchema.nullable(),
        accepted_ref: workspaceRefSchema.nullable(),
      })
      .nullable(),
    /** What the lineage has cost by then: models as accounted for, time since its submission, and runs. Null: not known. */
    cost: z
      .object({
        money_micros: z.int().nonnegative(),
        tokens: z.int().nonnegative(),
        duration_ms: z.number(),
        /** Of all its tasks, whatever became of them; left out by releases that did not count them. */
        runs: z.int().nonnegative().optional(),
      })
      .nullable(),
    /** What runs or waits for time goes on and may still be answered (a dead letter); else it is given up. */
    run_open: z.boolean(),
    /** What a human may do next. */
    decisions: z.array(decisionKindSchema),
    /** First warning, or the end where there is none. */
    warn_at: z.string(),
    expires_at: z.string(),
    on_expiry: onExpirySchema,
  }),
  upcasts: [
    (data: Before<'help' | 'expires_at' | 'tried'>) => ({
      ...data,
      version: 1,
      stage: stageOfHelp(data.help as Help),
      tried: { ...(data.tried as object), fixes: [] },
      judged: null,
      evidence: null,
      cost: null,
      warn_at: data.expires_at,
    }),
  ],
});

const handoffUpdated = defineEvent({
  type: 'handoff_updated',
  owners: ['orchestrator'],
  version: 2,
  description: 'A second cause was added to the open handoff of a unit.',
  data: z.object({
    ...taskRef,
    handoff: z.string(),
    /** One more than before; null in events of releases that did not count. */
    version: z.int().positive().nullable(),
    stage: stageSchema,
    ...causeOfHandoff.shape,
    run_open: z.boolean(),
    /** For all causes together. */
    decisions: z.array(decisionKindSchema),
  }),
  upcasts: [
    (data: Before<'help'>) => ({
      ...data,
      version: null,
      stage: stageOfHelp(data.help as Help),
      decisions: [],
    }),
  ],
});

const handoffCauseEnded = defineEvent({
  type: 'handoff_cause_ended',
  owners: ['orchestrator'],
  version: 1,
  description: 'One of several causes of an open handoff is gone; the handoff stays for the others.',
  data: z.object({
    ...taskRef,
    handoff: z.string(),
    raw_halt_type: z.string(),
    detail: z.string(),
    reason: z.string(),
  }),
});

const handoffClaimed = defineEvent({
  type: 'handoff_claimed',
  owners: ['orchestrator'],
  version: 1,
  description: 'Somebody looks after the handoff: until then nobody else decides it, and it does not expire.',
  data: z.object({
    ...taskRef,
    handoff: z.string(),
    version: z.int().positive(),
    by: z.string(),
    until: z.string(),
    expires_at: z.string(),
  }),
});

const handoffWarned = defineEvent({
  type: 'handoff_warned',
  owners: ['orchestrator'],
  version: 1,
  description: 'A part of the life of an open handoff is over.',
  data: z.object({
    ...taskRef,
    handoff: z.string(),
    /** Percent of its life. */
    share: z.int().min(1).max(99),
    expires_at: z.string(),
    /** When the next one is due, or the end (ISO). */
    next_at: z.string(),
  }),
});

/** What is added to the bounds of the node that the handoff is about. */
const grantedSchema = z.object({
  execute: z.int().nonnegative(),
  judge: z.int().nonnegative(),
  iterations: z.int().nonnegative(),
  indeterminate: z.int().nonnegative(),
});
export type Granted = z.infer<typeof grantedSchema>;

const handoffExpired = defineEvent({
  type: 'handoff_expired',
  owners: ['orchestrator'],
  version: 2,
  description: 'Nobody decided in time: the declared outcome follows in the same append. With `keep` it stays open.',
  data: z.object({
    ...taskRef,
    handoff: z.string(),
    outcome: onExpirySchema,
    /** As declared; differs from the outcome where a timer may not do it. */
    declared: onExpirySchema,
    reason: z.string(),
    /** The node that a `retry` begins with; null for every other outcome. */
    node_index: z.int().nonnegative().nullable(),
    /** Fixes of the unit that end with the handoff. */
    ended_tasks: z.array(z.string()),
    granted: grantedSchema,
  }),
  upcasts: [
    (data: Readonly<Record<string, unknown>>) => ({
      ...data,
      node_index: null,
      ended_tasks: [],
      granted: { execute: 0, judge: 0, iterations: 0, indeterminate: 0 },
    }),
  ],
});

const humanDecided = defineEvent({
  type: 'human_decided',
  owners: ['orchestrator'],
  version: 1,
  description: 'A human decided the handoff, which is over; what follows stands in the same append.',
  data: z.object({
    ...taskRef,
    handoff: z.string(),
    handoff_version: z.int().positive(),
    /** The same decision sent again is the same decision. */
    decision_id: z.string(),
    decision: decisionSchema,
    /** Of an `amend`: the task's nodes from now on. */
    nodes: z.array(nodeSpecSchema).min(1).nullable(),
    /** The node that is run next; null where that does not depend on the decision. */
    node_index: z.int().nonnegative().nullable(),
    /** Fixes of the unit that end with what was decided about. */
    ended_tasks: z.array(z.string()),
    /** Runs that nobody waits for from now on: another one takes their place. Left out: none. */
    stopped_runs: z.array(z.object({ task: z.string(), run: z.int().positive() })).optional(),
    granted: grantedSchema,
    actor: z.string(),
    authenticated: authenticatedSchema,
    decided_at: z.string(),
    /** Compact JWS (EdDSA) over the decision; its form is in human-decision.ts. */
    signature: z.string(),
    /** A short one; a long one is an artifact. */
    comment: z.string().nullable(),
    comment_artifact: sha256Schema.nullable(),
  }),
});
export type HumanDecided = z.infer<typeof humanDecided.data>;

const handoffWithdrawn = defineEvent({
  type: 'handoff_withdrawn',
  owners: ['orchestrator'],
  version: 1,
  description: 'The unit ended or the cause is gone.',
  data: z.object({ ...taskRef, handoff: z.string(), reason: z.string() }),
});

export const handoffEvents = [
  humanRequired,
  handoffUpdated,
  handoffCauseEnded,
  handoffClaimed,
  handoffWarned,
  handoffExpired,
  humanDecided,
  handoffWithdrawn,
] as const;
