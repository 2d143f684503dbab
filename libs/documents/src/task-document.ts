import {
  branchNameSchema,
  inputNameSchema,
  nodeIdSchema,
  policySchema,
  projectNameSchema,
  queueNameSchema,
  scriptLanguageSchema,
} from '@fixpoint/contracts/documents/task';
import { concurrencySchema } from '@fixpoint/contracts/events/queue-events';
import { jsonSchema } from '@fixpoint/contracts/json';
import { z } from 'zod';
import { durationSchema } from './duration.ts';

/**
 * What people write: `task/v1` before any default is filled in. `parseTask` makes a `TaskSpec` of it. Keys of later
 * versions are not here; `later-keys.ts` knows them, so that they are answered with FX190.
 */

const withSchema = z.record(z.string(), jsonSchema);
const textSchema = z.string().min(1);

export const recipeDocumentSchema = z
  .union([
    z.strictObject({ command: z.string() }),
    z.strictObject({ script: z.string(), language: scriptLanguageSchema.optional() }),
    z.strictObject({ primitive: textSchema, with: withSchema.optional() }),
  ])
  .meta({ id: 'recipe', description: 'What is run.' });

/** What a node may run: also what somebody outside does. */
const nodeRecipeDocumentSchema = z
  .union([...recipeDocumentSchema.options, z.strictObject({ worker: queueNameSchema, with: withSchema.optional() })])
  .meta({ id: 'node_recipe', description: 'What is run, here or by a worker.' });
export type RecipeDocument = z.infer<typeof nodeRecipeDocumentSchema>;

const timeout = durationSchema.optional();

const checkDocumentSchema = z
  .union([
    z.strictObject({ command: z.string(), timeout }),
    z.strictObject({ primitive: textSchema, with: withSchema.optional(), timeout }),
    z.strictObject({ json_schema: z.record(z.string(), jsonSchema), timeout }),
    z.strictObject({ cel: textSchema, timeout }),
  ])
  .meta({ id: 'check', description: 'One deterministic check; 30 seconds unless it says otherwise.' });
export type CheckDocument = z.infer<typeof checkDocumentSchema>;

const postconditionDocumentSchema = z.union([
  checkDocumentSchema,
  z.strictObject({ all: z.array(checkDocumentSchema).min(1) }),
]);
export type PostconditionDocument = z.infer<typeof postconditionDocumentSchema>;

const recoveryDocumentSchema = z
  .strictObject({
    max_repair_attempts: z.int().min(0).max(50).optional(),
    max_agent_attempts: z.int().min(0).max(50).optional(),
    model: textSchema.optional(),
    agent_tools: z.array(textSchema).optional(),
  })
  .meta({ id: 'recovery', description: 'Bounds of the ladder under policy recover.' });

/** A file below the root of the workspace, `/` between parts, never in `.git`. */
const isWorkspacePath = (path: string): boolean =>
  path.split('/').every((part) => !['', '.', '..', '.git'].includes(part.toLowerCase()) && !part.includes('\0'));

const outputsDocumentSchema = z
  .strictObject({
    output_file: z.string().max(1024).refine(isWorkspacePath, 'is a path below the root of the workspace').optional(),
    json_schema: z.record(z.string(), jsonSchema).optional(),
  })
  .refine((outputs) => Object.keys(outputs).length > 0, 'says output_file, json_schema, or both')
  .meta({ id: 'outputs', description: 'Where the output of the node is read from, and what it must look like.' });

/** The quad and what belongs to one run of it. */
const quad = {
  recipe: nodeRecipeDocumentSchema,
  postcondition: postconditionDocumentSchema.optional(),
  policy: policySchema.optional(),
  recovery: recoveryDocumentSchema.optional(),
  outputs: outputsDocumentSchema.optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).optional(),
  network: z.literal(true).optional(),
  timeout: durationSchema.optional(),
};

const nodeDocumentSchema = z
  .strictObject({
    id: nodeIdSchema.optional(),
    kind: z.enum(['action', 'gate', 'compute']).optional(),
    goal: z.string().optional(),
    if: textSchema.optional(),
    ...quad,
  })
  .meta({ id: 'node', description: 'Goal, recipe, postcondition and policy of one step.' });
export type NodeDocument = z.infer<typeof nodeDocumentSchema>;

const workspaceDocumentSchema = z.strictObject({
  git: z.strictObject({ url: textSchema, ref: textSchema.optional() }).optional(),
  keep: z.array(textSchema).optional(),
});

/** Fewer would be no cut, and more than a council may make of one unit. */
const MIN_PARTS = 2;
const MAX_PARTS = 6;

const partHead = {
  name: z.string().min(1).max(100),
  goal: z.string().optional(),
  paths: z.array(textSchema).max(50).optional(),
  get parts() {
    return partDocumentsSchema.optional();
  },
};

type PartHead = {
  name: string;
  goal?: string | undefined;
  paths?: string[] | undefined;
  parts?: PartDocument[] | undefined;
};
type Quad = Omit<NodeDocument, 'id' | 'kind' | 'goal' | 'if'>;
/** One way to cut a unit: the quad of a child with one node, or its nodes. */
export type PartDocument = (PartHead & Quad) | (PartHead & { nodes: NodeDocument[] });

const nodesSchema = z.array(nodeDocumentSchema).min(1).max(200);

const partDocumentSchema: z.ZodType<PartDocument> = z
  .lazy(() => z.union([z.strictObject({ ...partHead, ...quad }), z.strictObject({ ...partHead, nodes: nodesSchema })]))
  .meta({ id: 'part', description: 'What may become a child of its own when the unit stalls.' });

const partDocumentsSchema = z.array(partDocumentSchema).min(MIN_PARTS).max(MAX_PARTS);

const head = {
  kind: z.literal('task/v1'),
  name: z.string().min(1).max(200),
  project: projectNameSchema.optional(),
  mode: textSchema.optional(),
  labels: z.record(z.string(), z.string()).optional(),
  goal: z.string().optional(),
  inputs: z.record(inputNameSchema, jsonSchema).optional(),
  priority: z.int().optional(),
  concurrency: concurrencySchema.optional(),
  workspace: workspaceDocumentSchema.optional(),
  parts: partDocumentsSchema.optional(),
  deliver: z.strictObject({ branch: branchNameSchema }).optional(),
};

const manyNodesSchema = z.strictObject({ ...head, nodes: nodesSchema });
const oneNodeSchema = z.strictObject({ ...head, ...quad });

export const taskDocumentSchema = z.union([oneNodeSchema, manyNodesSchema]);
export type TaskDocument = z.infer<typeof taskDocumentSchema>;
