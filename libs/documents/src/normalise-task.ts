import type { Check, NodeSpec, PartSpec, Postcondition, Recipe, TaskSpec } from '@fixpoint/contracts/documents/task';
import { isTemplated, templateParts, textOfValue, valueAt } from '@fixpoint/contracts/documents/template';
import { durationMs } from './duration.ts';
import type {
  CheckDocument,
  NodeDocument,
  PartDocument,
  PostconditionDocument,
  TaskDocument,
} from './task-document.ts';

const DEFAULT_CHECK_TIMEOUT_MS = 30_000;
const DEFAULT_RUN_TIMEOUT_MS = 3_600_000;
const DEFAULT_PROJECT = 'default';
const DEFAULT_MODE = 'build';
const DEFAULT_MODEL = 'default';
/** Id of the node of a task that writes its quad at the top level. */
const ONLY_NODE = 'main';

/** The task with every default filled in and every duration in milliseconds. Source: docs/rules.md (Documents). */
export const normaliseTask = (document: TaskDocument): TaskSpec => ({
  name: document.name,
  project: document.project ?? DEFAULT_PROJECT,
  mode: document.mode ?? DEFAULT_MODE,
  labels: document.labels ?? {},
  goal: goalOf(document),
  ...(document.inputs === undefined ? {} : { inputs: document.inputs }),
  priority: document.priority ?? 0,
  ...(document.concurrency === undefined ? {} : { concurrency: document.concurrency }),
  workspace: normaliseWorkspace(document.workspace),
  nodes: nodesOf(document),
  ...(document.parts === undefined ? {} : { parts: document.parts.map(partOf) }),
  ...(document.deliver === undefined ? {} : { deliver: document.deliver }),
});

/** The goal of the task knows its inputs, which are known already; what has no value stays as it is, for lint to say. */
const goalOf = ({ goal = '', inputs = {} }: TaskDocument): string =>
  templateParts(goal)
    .map((part) => {
      if (typeof part === 'string') return part;
      if ('unreadable' in part) return part.unreadable;
      const input = part.reference.of === 'input' ? valueAt(inputs, part.reference.path) : undefined;
      const value = input ?? part.fallback;
      return value === undefined ? `\${{ ${part.text} }}` : textOfValue(value);
    })
    .join('');

const normaliseWorkspace = (workspace: TaskDocument['workspace']): TaskSpec['workspace'] => ({
  git: workspace?.git ? { url: workspace.git.url, ref: workspace.git.ref ?? 'HEAD' } : null,
  keep: workspace?.keep ?? [],
});

const partOf = (document: PartDocument): PartSpec => ({
  name: document.name,
  goal: document.goal ?? document.name,
  paths: document.paths ?? [],
  nodes: nodesOf({ ...document, goal: document.goal ?? document.name }),
  parts: (document.parts ?? []).map(partOf),
});

type WithNodes = { readonly goal?: string | undefined } & (
  | { readonly nodes: readonly NodeDocument[] }
  | Omit<NodeDocument, 'id' | 'kind' | 'goal' | 'if'>
);

const nodesOf = (document: WithNodes): NodeSpec[] => {
  const taskGoal = document.goal ?? '';
  if ('nodes' in document) {
    return document.nodes.map((node, index) => normaliseNode(node, { id: `node-${index + 1}`, goal: taskGoal }));
  }
  const { recipe, postcondition, policy, recovery, outputs, env, network, timeout } = document;
  const node = { recipe, postcondition, policy, recovery, outputs, env, network, timeout };
  return [normaliseNode(node, { id: ONLY_NODE, goal: taskGoal })];
};

/** Of a node that leaves out its id or goal. */
interface Fallback {
  readonly id: string;
  readonly goal: string;
}

const normaliseNode = (node: NodeDocument, fallback: Fallback): NodeSpec => {
  const spec = { ...quadOf(node, fallback), ...takenAndGiven(node) };
  return isTemplated(spec) ? { ...spec, templated: true } : spec;
};

const takenAndGiven = ({
  if: condition,
  outputs,
  network,
}: NodeDocument): Pick<NodeSpec, 'if' | 'output_file' | 'network'> => ({
  ...(condition === undefined ? {} : { if: condition }),
  ...(outputs?.output_file === undefined ? {} : { output_file: outputs.output_file }),
  ...(network === undefined ? {} : { network }),
});

const quadOf = (node: NodeDocument, fallback: Fallback): NodeSpec => ({
  id: node.id ?? fallback.id,
  kind: node.kind ?? 'action',
  goal: node.goal ?? fallback.goal,
  recipe: normaliseRecipe(node.recipe),
  postcondition: postconditionOf(node),
  ...normaliseRecovery(node),
  env: node.env ?? {},
  timeout_ms: msOf(node.timeout, DEFAULT_RUN_TIMEOUT_MS),
});

type Recovery = Pick<NodeSpec, 'policy' | 'max_repair_attempts' | 'max_agent_attempts' | 'model' | 'agent_tools'>;

/** A compute node repairs itself unless it says otherwise. Source: docs/rules.md (Documents). */
const normaliseRecovery = ({ kind, policy = defaultPolicy(kind), recovery = {} }: NodeDocument): Recovery => {
  const { max_repair_attempts = 0, max_agent_attempts = 0, model = DEFAULT_MODEL, agent_tools = [] } = recovery;
  // Recover without any bound would be required under another name: it means one repair.
  const unbounded = policy === 'recover' && max_repair_attempts === 0 && max_agent_attempts === 0;
  return {
    policy,
    max_repair_attempts: unbounded ? 1 : max_repair_attempts,
    max_agent_attempts,
    model,
    agent_tools,
  };
};

const defaultPolicy = (kind: NodeDocument['kind']): NodeSpec['policy'] => (kind === 'compute' ? 'recover' : 'required');

/** A recipe as written, with its defaults. */
export const normaliseRecipe = (recipe: NodeDocument['recipe']): Recipe => {
  if ('command' in recipe) return { command: recipe.command };
  if ('script' in recipe) return { script: recipe.script, language: recipe.language ?? 'sh' };
  if ('worker' in recipe) return { worker: recipe.worker, with: recipe.with ?? {} };
  return { primitive: recipe.primitive, with: recipe.with ?? {} };
};

/** What the output must look like is a check like any other, the last one. */
const postconditionOf = ({ postcondition, outputs }: NodeDocument): Postcondition | null => {
  const written = postcondition === undefined ? [] : checksIn(postcondition);
  const schema = outputs?.json_schema === undefined ? [] : [{ json_schema: outputs.json_schema }];
  const all = [...written, ...schema].map(normaliseCheck);
  return all.length === 0 ? null : { all };
};

const checksIn = (postcondition: PostconditionDocument): readonly CheckDocument[] =>
  'all' in postcondition ? postcondition.all : [postcondition];

const normaliseCheck = (check: CheckDocument): Check => {
  const timeout_ms = msOf(check.timeout, DEFAULT_CHECK_TIMEOUT_MS);
  if ('command' in check) return { command: check.command, timeout_ms };
  if ('primitive' in check) return { primitive: check.primitive, with: check.with ?? {}, timeout_ms };
  return 'json_schema' in check ? { json_schema: check.json_schema, timeout_ms } : { cel: check.cel, timeout_ms };
};

/** Milliseconds of a duration that the schema has let through. */
export const msOf = (text: string | undefined, fallback: number): number =>
  (text === undefined ? null : durationMs(text)) ?? fallback;
