import { Document, isScalar, Scalar, visit } from 'yaml';
import type { ProtocolDocument } from './protocol-document.ts';
import type { TaskDocument } from './task-document.ts';

/** Order of keys in print, over all levels; keys that are not named follow in the order they came in. */
const ORDER = [
  ...[
    'kind',
    'id',
    'name',
    'project',
    'mode',
    'labels',
    'goal',
    'inputs',
    'priority',
    'concurrency',
    'key',
    'limit',
    'workspace',
    'git',
    'url',
    'ref',
  ],
  ...['keep', 'if'],
  ...[
    'nodes',
    'recipe',
    'command',
    'script',
    'language',
    'primitive',
    'worker',
    'json_schema',
    'cel',
    'all',
    'with',
    'postcondition',
  ],
  ...['policy', 'recovery', 'max_repair_attempts', 'max_agent_attempts', 'model', 'agent_tools'],
  ...['outputs', 'output_file', 'env', 'network', 'paths', 'parts', 'deliver', 'branch'],
  ...[
    'modes',
    'governance_rules',
    'command_rules',
    'pre',
    'post',
    'consensus',
    'recover_on',
    'protected',
    'sandbox',
    'bounds',
  ],
  ...[
    'max_recovery_depth',
    'max_total_fix_attempts',
    'execute',
    'judge',
    'iterations',
    'indeterminate',
    'faults',
    'fault_caps',
  ],
  ...['max_decomposition_depth', 'max_total_decomposition_children', 'deadline', 'backoffs', 'handoff_expiry'],
  ...['check', 'deny', 'severity', 'overridable', 'severity_cap', 'message', 'fix', 'timeout', 'on'],
];
/** Below these keys stands data of the user, whose order is kept. */
const USER_DATA = new Set(['with', 'json_schema', 'labels', 'inputs', 'env', 'backoffs', 'fault_caps']);
/** The keys right below these are names that the user gave; what they name has an order again. */
const NAMED_BY_USER = new Set(['modes']);

/**
 * The document as YAML in one canonical layout. Parsing it gives the same document again, and printing that the same
 * text; comments are not kept.
 */
export const printTask = (document: TaskDocument): string => print(document);

/** Same for a protocol. */
export const printProtocol = (document: ProtocolDocument): string => print(document);

const print = (document: unknown): string => {
  // Aliases would tie together values that only happen to be the same object.
  const printed = new Document(ordered(document), { aliasDuplicateObjects: false });
  visit(printed, {
    Scalar: (_, node) => {
      if (isScalar(node) && typeof node.value === 'string' && !isPlainBlock(node.value))
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // Folding would move the lines of scripts.
  return printed.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
};

/**
 * One line, or lines that survive as a block. `yaml` loses spaces of blocks that begin with space or have lines of
 * nothing but space (seen with 2.9.1 on `"  \n"`).
 */
const isPlainBlock = (text: string): boolean =>
  !text.includes('\n') || (/^\S/.test(text) && !/^[^\S\n]+$/m.test(text) && !/\n\n$/.test(text));

const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return mapped(
    Object.entries(value)
      .sort(([a], [b]) => rank(a) - rank(b))
      .map(([key, inner]) => [key, orderedBelow(key, inner)]),
  );
};

const orderedBelow = (key: string, inner: unknown): unknown => {
  if (USER_DATA.has(key)) return inner;
  if (!NAMED_BY_USER.has(key) || typeof inner !== 'object' || inner === null) return ordered(inner);
  return mapped(Object.entries(inner).map(([name, named]) => [name, ordered(named)]));
};

/** A map keeps a key `__proto__` and the order of keys that look like numbers. */
const mapped = (entries: readonly (readonly [string, unknown])[]): ReadonlyMap<string, unknown> =>
  new Map(entries.filter(([, inner]) => inner !== undefined));

const rank = (key: string): number => {
  const at = ORDER.indexOf(key);
  return at === -1 ? ORDER.length : at;
};
