import { type ASTNode, Environment } from '@marcbachmann/cel-js';

/** Where an expression stands decides which variables it has. */
export type CelPlace = 'check' | 'validator' | 'command_rule' | 'governance_rule' | 'condition';

/** Variables by place. `dyn` is JSON of any shape. */
export const CEL_VARIABLES = {
  /** A postcondition: what the node put out, and how its recipe ended (heads of 4 KiB). */
  check: { output: 'dyn', exit_code: 'int', stdout: 'string', stderr: 'string' },
  /** A post-validator: the same, judged after the run. */
  validator: { output: 'dyn', exit_code: 'int', stdout: 'string', stderr: 'string' },
  /** One command that is about to run. */
  command_rule: {
    program: 'string',
    args: 'list<string>',
    paths: 'list<string>',
    network: 'bool',
    /** What runs is only known at run time. */
    dynamic: 'bool',
    text: 'string',
    rung: 'string',
  },
  /** A run that asks to start. */
  governance_rule: { task: 'dyn', node: 'dyn' },
  /** The `if` of a node: `inputs.NAME`, and `outcome` and `output` of the nodes before it by id. */
  condition: { inputs: 'dyn', nodes: 'dyn' },
} as const satisfies Record<CelPlace, Record<string, string>>;

/** A fresh environment with the variables of a place. */
export const celEnvironment = (place: CelPlace): Environment => {
  const environment = new Environment();
  for (const [name, type] of Object.entries(CEL_VARIABLES[place])) environment.registerVariable(name, type);
  return environment;
};

const environments: Record<CelPlace, Environment> = {
  check: celEnvironment('check'),
  validator: celEnvironment('validator'),
  command_rule: celEnvironment('command_rule'),
  governance_rule: celEnvironment('governance_rule'),
  condition: celEnvironment('condition'),
};

/** What is wrong with an expression in its place, in one line; null when it can be used. It must yield a boolean. */
export const celProblem = (place: CelPlace, text: string): string | null => {
  try {
    const { valid, type, error } = environments[place].parse(text).check();
    if (!valid) return firstLine(error);
    return type === 'bool' || type === 'dyn' ? null : `yields ${type}, not a boolean`;
  } catch (error) {
    return firstLine(error);
  }
};

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';

const unbound = new Environment({ unlistedVariablesAreDyn: true });

/** Calls that end soon, whatever they are given. Macros go round in each other, and a pattern may try for ever. */
const QUICK = new Set(['size', 'contains', 'startsWith', 'endsWith', 'has', 'int', 'uint', 'double', 'string', 'bool']);

/**
 * The value that an expression has whatever its variables say (`true`, `1 < 2 || output.x`); null when they matter, or
 * when only a macro or a pattern would tell: whoever sends a document must not keep its reader busy.
 */
export const celConstant = (text: string): boolean | null => {
  try {
    const { ast } = unbound.parse(text);
    return isQuick(ast) ? evaluated(text) : constantOf(ast);
  } catch {
    return null;
  }
};

const constantOf = (node: ASTNode): boolean | null => {
  if (isQuick(node)) return evaluated(node.input.slice(node.range.start, node.range.end));
  if (node.op !== '||' && node.op !== '&&') return null;
  const decides = node.op === '||';
  const sides = node.args.map(constantOf);
  if (sides.includes(decides)) return decides;
  return sides.includes(null) ? null : !decides;
};

const isQuick = (part: unknown): boolean => {
  if (Array.isArray(part)) return part.every(isQuick);
  if (typeof part !== 'object' || part === null || !('op' in part && 'args' in part)) return true;
  const isSlowCall = (part.op === 'call' || part.op === 'rcall') && !isQuickCall(part.args);
  return !isSlowCall && isQuick(part.args);
};

const isQuickCall = (args: unknown): boolean => Array.isArray(args) && QUICK.has(args[0]);

const evaluated = (text: string): boolean | null => {
  try {
    const result: unknown = unbound.evaluate(text, {});
    return typeof result === 'boolean' ? result : null;
  } catch {
    return null;
  }
};
