import {
  boundsSchema,
  consensusSchema,
  onExpirySchema,
  sandboxSpecSchema,
  severitySchema,
  validatorCheckSchema,
} from '@fixpoint/contracts/documents/protocol';
import { nodeIdSchema, projectNameSchema } from '@fixpoint/contracts/documents/task';
import { z } from 'zod';
import { durationSchema } from './duration.ts';
import { recipeDocumentSchema } from './task-document.ts';

/** What people write: `protocol/v1` before any default is filled in. `parseProtocol` makes a `ProtocolSpec` of it. */

const failureSeverity = z.enum(['warning', 'blocker']);

const validatorDocumentSchema = z
  .strictObject({
    id: nodeIdSchema,
    check: validatorCheckSchema,
    severity: failureSeverity.optional(),
    overridable: z.boolean().optional(),
    severity_cap: severitySchema.optional(),
    fix: recipeDocumentSchema.optional(),
    network: z.literal(true).optional(),
    timeout: durationSchema.optional(),
    on: z.enum(['node', 'task']).optional(),
  })
  .meta({ id: 'validator' });
export type ValidatorDocument = z.infer<typeof validatorDocumentSchema>;

const commandRuleDocumentSchema = z.strictObject({
  id: nodeIdSchema,
  deny: z.string().min(1),
  message: z.string().optional(),
});

const governanceRuleDocumentSchema = z.strictObject({
  id: nodeIdSchema,
  deny: z.string().min(1),
  severity: failureSeverity.optional(),
  overridable: z.boolean().optional(),
  message: z.string().optional(),
});

const boundsDocumentSchema = boundsSchema.omit({ deadline_ms: true }).partial().extend({
  deadline: durationSchema.optional(),
});

const modeDocumentSchema = z.strictObject({
  governance_rules: z.array(governanceRuleDocumentSchema).optional(),
  command_rules: z.array(commandRuleDocumentSchema).optional(),
  /** Left out: document schema and command rules, as in `default@1`. */
  pre: z.array(validatorDocumentSchema).optional(),
  /** Left out: the secret scan of `default@1`. */
  post: z.array(validatorDocumentSchema).optional(),
  consensus: consensusSchema.optional(),
  recover_on: z.array(failureSeverity).optional(),
  protected: z.array(z.string().min(1)).optional(),
  sandbox: sandboxSpecSchema.optional(),
  bounds: boundsDocumentSchema.optional(),
  backoffs: z.record(z.string(), z.array(durationSchema).min(1)).optional(),
  handoff_expiry: durationSchema.optional(),
  handoff_warnings: z.array(z.int().min(1).max(99)).optional(),
  handoff_on_expiry: onExpirySchema.optional(),
  auto_agent_model: z.string().min(1).optional(),
  council_timeout: durationSchema.optional(),
  hop_slack: durationSchema.optional(),
  fix_timeout: durationSchema.optional(),
});
export type ModeDocument = z.infer<typeof modeDocumentSchema>;

export const protocolDocumentSchema = z.strictObject({
  kind: z.literal('protocol/v1'),
  name: projectNameSchema.refine((name) => name !== 'default', 'the name `default` is built in'),
  project: projectNameSchema,
  modes: z.record(nodeIdSchema, modeDocumentSchema),
});
export type ProtocolDocument = z.infer<typeof protocolDocumentSchema>;
