import { z } from 'zod';
import { faultClassSchema } from '../events/executor-events.ts';
import { jsonSchema } from '../json.ts';
import { nodeIdSchema, projectNameSchema, recipeSchema } from './task.ts';

/** `keep` it open, `retry` once in a unit's life, or `abandon` the unit (never over verified work). */
export const onExpirySchema = z.enum(['keep', 'retry', 'abandon']);
export type OnExpiry = z.infer<typeof onExpirySchema>;

export const severitySchema = z.enum(['pass', 'warning', 'blocker']);
export type Severity = z.infer<typeof severitySchema>;

const RANK: Readonly<Record<Severity, number>> = { pass: 0, warning: 1, blocker: 2 };

/** A cap lowers and never raises. */
export const cappedSeverity = (severity: Severity, cap: Severity | null): Severity =>
  cap !== null && RANK[cap] < RANK[severity] ? cap : severity;

export const consensusSchema = z.enum(['unanimous', 'majority', 'quorum', 'any']);
type Consensus = z.infer<typeof consensusSchema>;

/** Passes that make a consensus among `total` ≥ 1 verdicts. Whole numbers: 0.67 × 3 would ask for all three. */
export const neededPasses = (consensus: Consensus, total: number): number => {
  switch (consensus) {
    case 'unanimous':
      return total;
    case 'majority':
      return Math.floor(total / 2) + 1;
    case 'quorum':
      return Math.ceil((2 * total) / 3);
    case 'any':
      return 1;
    default:
      return consensus satisfies never;
  }
};

/** An existing tool as a validator: what its report says decides. `file` is a path below the command's HOME; left out: stdout. */
const reportCheckSchema = z.strictObject({
  format: z.enum(['sarif', 'junit', 'tap']),
  command: z.string().min(1),
  file: z.string().min(1).max(1024).optional(),
  /** Of SARIF: the lowest level that counts; `warning` when left out. */
  level: z.enum(['note', 'warning', 'error']).optional(),
});
export type ReportCheck = z.infer<typeof reportCheckSchema>;

/** What a validator asks. `document_schema` and `command_rules` are built in and only make sense before execution. */
export const validatorCheckSchema = z.union([
  /** Exit code 0 = pass, any other = the declared severity. stdout may be JSON findings: `{findings: [{rule, path, line, criterion, message}]}`. */
  z.strictObject({ command: z.string().min(1) }),
  z.strictObject({ report: reportCheckSchema }),
  z.strictObject({ json_schema: z.record(z.string(), jsonSchema) }),
  z.strictObject({ cel: z.string().min(1) }),
  z.strictObject({ secret_scan: z.strictObject({}) }),
  z.strictObject({ document_schema: z.strictObject({}) }),
  z.strictObject({ command_rules: z.strictObject({}) }),
]);
export type ValidatorCheck = z.infer<typeof validatorCheckSchema>;

/** The shell text that a check runs in a copy of the workspace; null when it runs none. */
export const commandOf = (check: ValidatorCheck): string | null => {
  if ('command' in check) return check.command;
  return 'report' in check ? check.report.command : null;
};

export const validatorSpecSchema = z.strictObject({
  id: nodeIdSchema,
  check: validatorCheckSchema,
  /** Severity of a failed check. */
  severity: z.enum(['warning', 'blocker']),
  overridable: z.boolean(),
  severity_cap: severitySchema.nullable(),
  fix: recipeSchema.nullable(),
  timeout_ms: z.int().positive(),
  /** A command of it may use the network of the host. */
  network: z.literal(true).optional(),
  /** Judged with every node or only with the last one. */
  on: z.enum(['node', 'task']),
});
export type ValidatorSpec = z.infer<typeof validatorSpecSchema>;

/** CEL over the parsed command: `program`, `args`, `paths`, `network` (bool), `text`, `rung`. True = denied. */
export const commandRuleSchema = z.strictObject({ id: nodeIdSchema, deny: z.string().min(1), message: z.string() });
export type CommandRule = z.infer<typeof commandRuleSchema>;

/** CEL over `task` and `node` before execution; true = blocked. */
const governanceRuleSchema = z.strictObject({
  id: nodeIdSchema,
  deny: z.string().min(1),
  severity: z.enum(['warning', 'blocker']),
  overridable: z.boolean(),
  message: z.string(),
});

/** Inclusive. Source: docs/rules.md (Recovery, Counters). */
export const boundsSchema = z.strictObject({
  max_recovery_depth: z.int().nonnegative(),
  max_total_fix_attempts: z.int().nonnegative(),
  iterations: z.int().positive(),
  execute: z.int().positive(),
  judge: z.int().positive(),
  indeterminate: z.int().positive(),
  max_decomposition_depth: z.int().min(0).max(5),
  max_total_decomposition_children: z.int().nonnegative(),
  /** New tries per (unit, class) after machinery faults since the last evidence, for every class that `fault_caps` leaves out. */
  faults: z.int().positive(),
  /** The same for single classes; 0 asks a human at once. */
  fault_caps: z.partialRecord(faultClassSchema, z.int().nonnegative()).optional(),
  /** Runs of an agent after a stall; 0 for none. */
  auto_agent_max_attempts: z.int().min(0).max(10),
  /** Answers of an agent in one run; 100 where a version from before says nothing. */
  agent_steps: z.int().min(1).max(10_000).optional(),
  /** Merges of one child that may conflict. */
  integrate: z.int().positive(),
  /** Failed recomposes of one epic before a human hears of it. */
  max_recompose_attempts: z.int().positive(),
  /** How often in a row a run that nobody had begun is gated anew, for nothing. */
  regates: z.int().nonnegative(),
  /** Whole life of a lineage, ms. */
  deadline_ms: z.int().positive(),
  /** Of a lineage: spent, and reserved for what is under way. */
  max_money_micros: z.int().nonnegative(),
  max_tokens: z.int().nonnegative(),
  /** Reserved for a run or a request to the council that may ask a model; more it may not spend. */
  run_money_micros: z.int().nonnegative(),
  run_tokens: z.int().nonnegative(),
});
export type Bounds = z.infer<typeof boundsSchema>;

/** Enough for work of an hour, and an end for one that goes in circles. */
export const agentStepsOf = ({ agent_steps: steps = 100 }: Pick<Bounds, 'agent_steps'>): number => steps;

export const sandboxRequirementSchema = z.enum(['required', 'preferred', 'none']);
export type SandboxRequirement = z.infer<typeof sandboxRequirementSchema>;

/** What is left out is as the executor and the validator are configured, or has the default of docs/tasks.md (Limits). */
export const sandboxSpecSchema = z.strictObject({
  require: sandboxRequirementSchema.optional(),
  /** Whether nodes may ask for the network; `on_request` when left out. */
  network: z.enum(['forbidden', 'on_request']).optional(),
  limits: z
    .strictObject({
      cpu_s: z.int().min(1).max(604_800),
      memory_bytes: z.int().min(64 * 1024 ** 2),
      file_bytes: z.int().min(64 * 1024),
      disk_bytes: z.int().min(1024 ** 2),
      processes: z.int().min(8).max(65_536),
      open_files: z.int().min(64).max(1_048_576),
    })
    .partial()
    .optional(),
});

export const modeSpecSchema = z.strictObject({
  governance_rules: z.array(governanceRuleSchema),
  command_rules: z.array(commandRuleSchema),
  /** Never empty in a mode that can run: a mode without pre-validators is refused at the gate. */
  pre: z.array(validatorSpecSchema),
  post: z.array(validatorSpecSchema),
  consensus: consensusSchema,
  recover_on: z.array(z.enum(['warning', 'blocker'])),
  /** Globs of the workspace that no run may change. */
  protected: z.array(z.string()),
  bounds: boundsSchema,
  sandbox: sandboxSpecSchema.optional(),
  /** First, factor-doubling delays in ms per fault class; the last repeats. */
  backoffs: z.record(z.string(), z.array(z.int().nonnegative()).min(1)),
  /** How long a handoff stays open before its declared outcome, ms. */
  handoff_expiry_ms: z.int().positive(),
  /** Shares of that time, in percent and rising, at which a reminder is due. */
  handoff_warnings: z.array(z.int().min(1).max(99)),
  handoff_on_expiry: onExpirySchema,
  /** A model that can act as an agent on what has stalled; null: the node's own, where it can. */
  auto_agent_model: z.string().min(1).nullable(),
  /** How long the council may take for one answer, ms. */
  council_timeout_ms: z.int().positive(),
  /** Time beside that of the work itself before a hop counts as no answer, ms. */
  hop_slack_ms: z.int().positive(),
  /** Of one run of a fix, ms. */
  fix_timeout_ms: z.int().positive(),
});
export type ModeSpec = z.infer<typeof modeSpecSchema>;

export const protocolSpecSchema = z.strictObject({
  name: z.string().min(1),
  project: projectNameSchema,
  modes: z.record(z.string(), modeSpecSchema),
});
export type ProtocolSpec = z.infer<typeof protocolSpecSchema>;

/** The version a lineage is pinned to. `default@1` is built in, has no project and no stream. */
export const protocolRefSchema = z.object({ name: z.string(), version: z.int().positive(), hash: z.string() });
export type ProtocolRef = z.infer<typeof protocolRefSchema>;
