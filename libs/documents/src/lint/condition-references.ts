import { Environment } from '@marcbachmann/cel-js';

/** What a condition names: inputs and nodes, each once. */
export interface ConditionReferences {
  readonly inputs: readonly string[];
  readonly nodes: readonly string[];
}

const environment = new Environment();
for (const name of ['inputs', 'nodes']) environment.registerVariable(name, 'dyn');

/** Names after `inputs` and `nodes` in an expression that can be parsed, written with a dot or as `["name"]`. */
export const conditionReferences = (text: string): ConditionReferences => {
  const found: Record<'inputs' | 'nodes', Set<string>> = { inputs: new Set(), nodes: new Set() };
  visit(environment.parse(text).ast, (root, name) => found[root].add(name));
  return { inputs: [...found.inputs], nodes: [...found.nodes] };
};

type Found = (root: 'inputs' | 'nodes', name: string) => void;

const visit = (node: unknown, found: Found): void => {
  if (Array.isArray(node)) {
    for (const inner of node) visit(inner, found);
    return;
  }
  if (!isNode(node)) return;
  const [root, name] = memberOf(node);
  if ((root === 'inputs' || root === 'nodes') && name !== undefined) found(root, name);
  visit(node.args, found);
};

interface AstNode {
  readonly op: string;
  readonly args: unknown;
}

const isNode = (node: unknown): node is AstNode => typeof node === 'object' && node !== null && 'op' in node;

/** Variable and key of `root.key`, `root.?key` and `root["key"]`. */
const memberOf = ({ op, args }: AstNode): [unknown?, string?] => {
  if (!Array.isArray(args) || !isNode(args[0]) || args[0].op !== 'id') return [];
  const key: unknown = op.includes('[') && isNode(args[1]) ? args[1].args : args[1];
  return typeof key === 'string' && /^(\.|\[)/.test(op) ? [args[0].args, key] : [];
};
