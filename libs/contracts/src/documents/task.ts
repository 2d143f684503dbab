import { z } from 'zod';
import { concurrencySchema } from '../events/queue-events.ts';
import { jsonSchema } from '../json.ts';
import { gitSourceSchema } from '../workspace.ts';

/**
 * The normalised task: what `libs/documents` makes of a `task/v1` document once every default is filled in and every
 * duration is in milliseconds. This is what events carry and what services work on; `spec_hash` is over it.
 */

export const projectNameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower-case letters, digits and `-`, at most 63, not `-` first');
export const nodeIdSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,62}$/, 'lower-case letters, digits, `_` and `-`, at most 63, a letter first');
export const inputNameSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/);

/** A branch by its short name, as `git check-ref-format --branch` takes it. */
export const branchNameSchema = z
  .string()
  .max(200)
  .refine(
    (name) =>
      !/[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$/.test(name) &&
      !['', '@', 'HEAD'].includes(name) &&
      name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock')),
    'is the name of a branch',
  );

export const scriptLanguageSchema = z.enum(['sh', 'bash', 'node', 'python3']);
export type ScriptLanguage = z.infer<typeof scriptLanguageSchema>;

/** What workers ask for: jobs of one kind. */
export const queueNameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{0,62}$/, 'lower-case letters, digits, dots and dashes, at most 63');

export const recipeSchema = z.union([
  z.strictObject({ command: z.string().min(1) }),
  z.strictObject({ script: z.string().min(1), language: scriptLanguageSchema }),
  z.strictObject({ primitive: z.string().min(1), with: z.record(z.string(), jsonSchema) }),
  /** Done by a program elsewhere that asks for the jobs of this queue. */
  z.strictObject({ worker: queueNameSchema, with: z.record(z.string(), jsonSchema) }),
]);
export type Recipe = z.infer<typeof recipeSchema>;

/** What a run starts as a process of its own, and what can be written anew after a failure. */
export type ProgramRecipe = Extract<Recipe, { command: string } | { script: string }>;
export const isProgram = (recipe: Recipe): recipe is ProgramRecipe => 'command' in recipe || 'script' in recipe;

/** Whether somebody outside does it, whose word for it proves nothing. */
export const isRemote = (recipe: Recipe): recipe is Extract<Recipe, { worker: string }> => 'worker' in recipe;

/** One deterministic check. `timeout_ms` bounds this check alone. */
export const checkSchema = z.union([
  z.strictObject({ command: z.string().min(1), timeout_ms: z.int().positive() }),
  z.strictObject({
    primitive: z.string().min(1),
    with: z.record(z.string(), jsonSchema),
    timeout_ms: z.int().positive(),
  }),
  /** JSON Schema (2020-12) over the node's output. */
  z.strictObject({ json_schema: z.record(z.string(), jsonSchema), timeout_ms: z.int().positive() }),
  /** CEL over `output` (the node's output), `exit_code`, `stdout`, `stderr` (heads); must yield a boolean. */
  z.strictObject({ cel: z.string().min(1), timeout_ms: z.int().positive() }),
]);
export type Check = z.infer<typeof checkSchema>;

/** All checks must hold; a single one is a list of one. Never empty. */
export const postconditionSchema = z.strictObject({ all: z.array(checkSchema).min(1) });
export type Postcondition = z.infer<typeof postconditionSchema>;

export const policySchema = z.enum(['required', 'recover', 'best_effort']);
export type Policy = z.infer<typeof policySchema>;

export const nodeSpecSchema = z.strictObject({
  id: nodeIdSchema,
  kind: z.enum(['action', 'gate', 'compute']),
  goal: z.string(),
  recipe: recipeSchema,
  /** Null: evidence is exit code 0 of the recipe. For a gate: null, since the recipe is the check. */
  postcondition: postconditionSchema.nullable(),
  policy: policySchema,
  max_repair_attempts: z.int().nonnegative(),
  max_agent_attempts: z.int().nonnegative(),
  model: z.string(),
  agent_tools: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  /** Total time of one run of this node, ms. */
  timeout_ms: z.int().positive(),
  /** CEL over `inputs` and `nodes`; false skips the node. */
  if: z.string().min(1).optional(),
  /** File of the workspace that is the output, in place of standard output. */
  output_file: z.string().min(1).optional(),
  /** Its commands may use the network of the host, where the mode does not forbid it. */
  network: z.literal(true).optional(),
  /** Some text of it holds a `${{ … }}`. Never in a run's own node: there every reference has its value. */
  templated: z.literal(true).optional(),
});
export type NodeSpec = z.infer<typeof nodeSpecSchema>;

/** Whether a postcondition looks at what the recipe put out, so that it can only be asked where a recipe has run. */
export const checksOutput = ({ postcondition }: Pick<NodeSpec, 'postcondition'>): boolean =>
  postcondition?.all.some((check) => 'json_schema' in check || 'cel' in check) ?? false;

/** Declared ways to cut a unit: what a council may make children of when the unit stalls. */
export interface PartSpec {
  readonly name: string;
  readonly goal: string;
  /** Globs of the workspace that the part is meant to touch; empty: unsaid. */
  readonly paths: string[];
  readonly nodes: NodeSpec[];
  /** How the part itself may be cut, should it stall as a child. */
  readonly parts: PartSpec[];
}

export const partSpecSchema: z.ZodType<PartSpec> = z.strictObject({
  name: z.string().min(1),
  goal: z.string(),
  paths: z.array(z.string()),
  nodes: z.array(nodeSpecSchema).min(1),
  get parts() {
    return z.array(partSpecSchema);
  },
});

export const taskSpecSchema = z.strictObject({
  name: z.string().min(1),
  project: projectNameSchema,
  mode: z.string().min(1),
  labels: z.record(z.string(), z.string()),
  goal: z.string(),
  /** Values that nodes may refer to. */
  inputs: z.record(inputNameSchema, jsonSchema).optional(),
  /** Start of the affinity; never below the viability threshold. */
  priority: z.int(),
  /** For all runs of the lineage. */
  concurrency: concurrencySchema.optional(),
  workspace: z.strictObject({ git: gitSourceSchema.nullable(), keep: z.array(z.string()) }),
  /** None of a container, whose work its children do; documents have one at least. */
  nodes: z.array(nodeSpecSchema),
  /** The branch of the workspace's repository that the result is pushed to; without it, the result is an artifact. */
  deliver: z.strictObject({ branch: branchNameSchema }).optional(),
  parts: z.array(partSpecSchema).min(1).optional(),
});
export type TaskSpec = z.infer<typeof taskSpecSchema>;
