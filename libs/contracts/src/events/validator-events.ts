import { z } from 'zod';
import { haltTypeSchema, verdictSchema } from '../verdict.ts';
import { workspaceRefSchema } from '../workspace.ts';
import { defineEvent, runRef, sha256Schema } from './define.ts';
import { faultClassSchema } from './executor-events.ts';

const governancePassed = defineEvent({
  type: 'governance_passed',
  owners: ['validator'],
  version: 1,
  description: 'The run may start: a token for this run and no other.',
  data: z.object({
    ...runRef,
    outcome: z.enum(['proceed', 'proceed_with_log']),
    run_kind: z.string(),
    /** `in_process` recipes may share a message; `long` work goes one event a message. */
    work: z.enum(['in_process', 'long']),
    /** Signed; its form and claims are in run-token.ts. */
    token: z.string(),
    workspace_ref: workspaceRefSchema.nullable(),
    verdicts: z.array(verdictSchema),
    /** Hash over the postcondition, the mode's validators, command rules and protected paths. */
    firewall_hash: sha256Schema,
  }),
});

const governanceBlocked = defineEvent({
  type: 'governance_blocked',
  owners: ['validator'],
  version: 1,
  description: 'The run may not start.',
  data: z.object({
    ...runRef,
    outcome: z.enum(['halt', 'blocked_overridable']),
    halt_type: haltTypeSchema,
    raw_halt_type: z.string(),
    verdicts: z.array(verdictSchema),
  }),
});

const governanceEscalated = defineEvent({
  type: 'governance_escalated',
  owners: ['validator'],
  version: 1,
  description: 'Approval is withheld by warnings: a human may approve.',
  data: z.object({ ...runRef, halt_type: haltTypeSchema, raw_halt_type: z.string(), verdicts: z.array(verdictSchema) }),
});

export const judgementOutcomeSchema = z.enum([
  'proceed',
  'proceed_with_log',
  'recover',
  'escalate',
  'blocked_overridable',
  'halt',
]);
export type JudgementOutcome = z.infer<typeof judgementOutcomeSchema>;

const postValidated = defineEvent({
  type: 'post_validated',
  owners: ['validator'],
  version: 1,
  description: 'The result of a run was judged.',
  data: z.object({
    ...runRef,
    node_id: z.string(),
    outcome: judgementOutcomeSchema,
    reason: z.string(),
    halt_type: haltTypeSchema.nullable(),
    raw_halt_type: z.string().nullable(),
    verdicts: z.array(verdictSchema),
    /** Validators in `recover_on` that objected, in protocol order; empty unless the outcome is `recover`. */
    triggering_validators: z.array(z.string()),
    /** Hash of sorted (validator, severity, criteria, evidence_hash) and the tree: equal twice = stalled. */
    signature: sha256Schema,
    workspace_ref: workspaceRefSchema.nullable(),
  }),
});

const gateFaulted = defineEvent({
  type: 'gate_faulted',
  owners: ['validator'],
  version: 1,
  description: 'A validator could not be run: the machinery failed and nothing was said about the work.',
  data: z.object({
    ...runRef,
    phase: z.enum(['gate', 'judge']),
    class: faultClassSchema,
    retry_after_ms: z.int().nonnegative(),
    detail: z.string(),
  }),
});

const verdictRecorded = defineEvent({
  type: 'verdict_recorded',
  owners: ['validator'],
  version: 1,
  description: 'One validator has answered while others are still asked: whoever goes on with the question keeps it.',
  data: z.object({ ...runRef, phase: z.enum(['gate', 'judge']), verdict: verdictSchema }),
});

export const validatorEvents = [
  governancePassed,
  governanceBlocked,
  governanceEscalated,
  postValidated,
  gateFaulted,
  verdictRecorded,
] as const;
