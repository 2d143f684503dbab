import { z } from 'zod';
import { type NodeSpec, nodeIdSchema } from './documents/task.ts';
import type { GitSource, WorkspaceRef } from './workspace.ts';

/** What a human may do about a handoff. */
export const decisionKindSchema = z.enum([
  'retry',
  'amend',
  'approve',
  'override',
  'split',
  'resolve',
  'extend',
  'abandon',
]);
export type DecisionKind = z.infer<typeof decisionKindSchema>;

/** Longest hint to a council, and longest name of a git ref, in characters. */
const MAX_HINT = 4_000;
const MAX_REF = 200;

export const hintSchema = z.string().min(1).max(MAX_HINT);

/** A branch, tag or full ref of the lineage's source; never an option of git. */
export const gitRefSchema = z
  .string()
  .min(1)
  .max(MAX_REF)
  .regex(/^(?![-/.])(?!.*(\.\.|@\{|\/\/))[^\s~^:?*[\\\p{Cc}]+(?<![./])$/u, 'the name of a git ref');

/** One validator's word that is lifted, and on which evidence: other evidence is not lifted. */
export const liftSchema = z.object({ validator: z.string(), evidence_hash: z.string() });
export type Lift = z.infer<typeof liftSchema>;

/** What a lift binds to: these verdicts of this run about this spec and this tree, and no others. */
const bindingSchema = z.object({
  task: z.string(),
  run: z.int().positive(),
  phase: z.enum(['gate', 'judge']),
  spec_hash: z.string(),
  tree: z.string().nullable(),
  lifts: z.array(liftSchema).min(1),
});
export type Binding = z.infer<typeof bindingSchema>;

/** New absolute limits by name; what is not named stays. */
export const limitsSchema = z.record(z.string().regex(/^[a-z][a-z_]{0,62}$/), z.int().nonnegative());
export type Limits = z.infer<typeof limitsSchema>;

/** A decision as it is recorded and signed. The nodes of an `amend` stand beside it; its `spec_hash` is over them. */
export const decisionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('retry'), from_node: nodeIdSchema.nullable() }),
  z.object({ kind: z.literal('amend'), spec_hash: z.string() }),
  z.object({ kind: z.literal('approve'), ...bindingSchema.shape }),
  z.object({ kind: z.literal('override'), ...bindingSchema.shape }),
  z.object({ kind: z.literal('split'), hint: hintSchema.nullable() }),
  z.object({ kind: z.literal('resolve'), ref: gitRefSchema.nullable(), exclude_children: z.array(z.string()) }),
  z.object({ kind: z.literal('extend'), limits: limitsSchema }),
  z.object({ kind: z.literal('abandon') }),
]);
export type Decision = z.infer<typeof decisionSchema>;
export type DecisionOf<Kind extends DecisionKind> = Extract<Decision, { kind: Kind }>;

/** How whoever decided had shown who they are. */
export const authenticatedSchema = z.enum(['api_key', 'loopback']);
export type Authenticated = z.infer<typeof authenticatedSchema>;

/** What the signature of a decision covers: who, how authenticated, what, when, about which version. */
export const signedDecisionSchema = z.object({
  root: z.string(),
  task: z.string(),
  handoff: z.string(),
  handoff_version: z.int().positive(),
  decision_id: z.string(),
  who: z.string(),
  authenticated: authenticatedSchema,
  what: decisionSchema,
  /** sha256 of the comment; null without one. */
  comment_hash: z.string().nullable(),
  when: z.string(),
});
export type SignedDecision = z.infer<typeof signedDecisionSchema>;

/** What is signed: nothing else that is signed with such a key looks like it. */
export const decisionPayloadSchema = z.object({ human_decision: signedDecisionSchema });

interface Resting {
  readonly run_kind: string;
  readonly verdicts_of: number | null;
  readonly decisions: readonly string[];
  readonly node: Pick<NodeSpec, 'kind' | 'postcondition'>;
}

/** A human says that it is done, and there is no check that could be asked: their signed word is all the evidence there is. */
export const restsOnWord = ({ run_kind, verdicts_of, decisions, node }: Resting): boolean =>
  run_kind === 'check' &&
  verdicts_of === null &&
  decisions.length > 0 &&
  node.kind !== 'gate' &&
  node.postcondition === null;

interface Starting extends Omit<Resting, 'node'> {
  readonly source: GitSource | null;
  readonly workspace_ref: WorkspaceRef | null;
  /** The lineage's own source, where there is no workspace of it yet. */
  readonly compared_with?: GitSource | undefined;
}

/**
 * A human named another ref of the source where it is done: the check is asked there. What the run names as its start is
 * then what the work is compared with, so that nothing that a human adds is looked at by nobody.
 */
export const startsElsewhere = (starting: Starting): boolean => {
  const { run_kind, verdicts_of, decisions, source } = starting;
  const known = knownSource(starting);
  return (
    run_kind === 'check' &&
    verdicts_of === null &&
    decisions.length > 0 &&
    source !== null &&
    known !== null &&
    known.ref !== source.ref
  );
};

const knownSource = ({ workspace_ref: ref, compared_with: known }: Starting): GitSource | null =>
  ref === null ? (known ?? null) : ref.source;
