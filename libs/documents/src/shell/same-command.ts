import { parseShell } from './parse-shell.ts';
import { shellCall, wrappedWords } from './wrappers.ts';

/** Plain form of a syntax tree: what JSON keeps of it. */
type Tree = null | boolean | number | string | Tree[] | { [key: string]: Tree };
type Node = { [key: string]: Tree };

/**
 * Whether two shell texts do the same: equal after parsing, so that comments, spacing, quotes around literal text,
 * grouping and wrappers that change nothing (`sh -c`, `timeout`, `nice`, `command`, …) do not hide equality.
 * Unreadable texts are the same only when they are equal as text.
 */
export const sameCommand = (a: string, b: string): boolean => {
  const [left, right] = [canonicalCommand(a), canonicalCommand(b)];
  return left === null || right === null ? a.trim() === b.trim() : left === right;
};

/** One text for all shell texts that are the same by {@link sameCommand}; null when unreadable. */
const canonicalCommand = (text: string): string | null => {
  const tree = canonicalScript(text);
  return tree === null ? null : JSON.stringify(tree);
};

const canonicalScript = (text: string): Tree | null => {
  const parsed = parseShell(text);
  if (!parsed.readable) return null;
  // Only JSON has the lazy parts of the tree in it; it is also what is compared.
  return canonical(JSON.parse(JSON.stringify(parsed.script)));
};

const canonical = (tree: Tree): Tree => {
  if (Array.isArray(tree)) return tree.map(canonical);
  if (typeof tree !== 'object' || tree === null) return tree;
  switch (tree.type) {
    case 'Script':
    case 'CompoundList':
      return canonicalList(listIn(tree, 'commands'));
    case 'Statement':
      return tree.background === true
        ? { background: canonical(tree.command ?? null) }
        : canonical(tree.command ?? null);
    case 'Subshell':
    case 'BraceGroup':
      return canonical(tree.body ?? null);
    case 'Pipeline':
      return canonicalPipeline(tree);
    case 'Command':
      return canonicalCall(tree);
    case 'Word':
      return canonicalWord(tree);
    default:
      return withoutPlaces(tree);
  }
};

const listIn = (node: Node, key: string): Tree[] => {
  const list = node[key];
  return Array.isArray(list) ? list : [];
};

const isNode = (tree: Tree): tree is Node => typeof tree === 'object' && tree !== null && !Array.isArray(tree);

const withoutPlaces = (node: Node): Node =>
  Object.fromEntries(
    Object.entries(node)
      .filter(
        ([key]) => key !== 'pos' && key !== 'end' && key !== 'closing' && !key.endsWith('Pos') && !key.endsWith('End'),
      )
      .map(([key, value]) => [key, canonical(value)]),
  );

/** Commands after each other; those before the last that do nothing are left out. */
const canonicalList = (commands: readonly Tree[]): Tree => {
  const rest = commands.map(canonical).filter((command, at, all) => at === all.length - 1 || !isNothing(command));
  return rest.length === 1 ? (rest[0] ?? null) : rest;
};

const isNothing = (command: Tree): boolean => {
  const text = JSON.stringify(command);
  return text === '{"call":[["true"]]}' || text === '{"call":[[":"]]}';
};

const canonicalPipeline = (node: Node): Tree => {
  const commands = listIn(node, 'commands').map(canonical);
  const isNegated =
    listIn(node, 'prefixes').filter((prefix) => isNode(prefix) && prefix.type === 'Negation').length % 2 === 1;
  const pipe = commands.length === 1 ? (commands[0] ?? null) : { pipe: commands, operators: node.operators ?? null };
  return isNegated ? { not: pipe } : pipe;
};

/** A command line; wrappers that change nothing about what is run are taken off. */
const canonicalCall = (node: Node): Tree => {
  const suffix = listIn(node, 'suffix');
  const prefix = listIn(node, 'prefix');
  const words = [node.name ?? null, ...suffix.filter(isWord)].filter(isNode).map(canonicalWord);
  const others = [...prefix, ...suffix.filter((part) => !isWord(part))].map(canonical);
  const unwrapped = unwrap(words);
  if (others.length === 0) return unwrapped;
  return { with: others, run: unwrapped };
};

const isWord = (tree: Tree): boolean => isNode(tree) && tree.type === 'Word';

const TRANSPARENT = new Set([
  'command',
  'env',
  'exec',
  'nice',
  'ionice',
  'nohup',
  'setsid',
  'stdbuf',
  'timeout',
  'builtin',
]);

const unwrap = (words: readonly Tree[][]): Tree => {
  const [program, ...args] = words.map(plainText);
  if (program === undefined) return { call: [...words] };
  const name = program.text.slice(program.text.lastIndexOf('/') + 1);
  const code = codeIn(name, args);
  const script = code === null ? null : canonicalScript(code);
  if (script !== null) return script;
  const wrapped = TRANSPARENT.has(name) && !args[0]?.text.includes('=') ? wrappedWords(name, args).length : 0;
  return wrapped > 0 ? unwrap(words.slice(-wrapped)) : { call: [...words] };
};

const codeIn = (program: string, args: readonly { text: string; known: boolean }[]): string | null => {
  const code = program === 'eval' && args.length === 1 ? args[0] : shellCall(program, args)?.text;
  // More words after the text would be its parameters.
  return code?.known === true && args.at(-1) === code ? code.text : null;
};

/** The parts of a word: text as one string, whatever its quotes, and each expansion. */
const canonicalWord = (word: Node): Tree[] => {
  const parts = word.parts;
  if (!Array.isArray(parts)) return [word.value ?? ''];
  const merged: Tree[] = [];
  for (const part of parts.flatMap(partsOf)) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else merged.push(part);
  }
  return merged;
};

const partsOf = (part: Tree): Tree[] => {
  if (!isNode(part)) return [];
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [part.value ?? ''];
    case 'DoubleQuoted':
    case 'LocaleString':
      return listIn(part, 'parts').flatMap(partsOf);
    case 'SimpleExpansion':
      return [{ variable: String(part.text).slice(1) }];
    case 'ParameterExpansion':
      return [
        part.operation || part.prefix || part.index
          ? { expansion: part.text ?? '' }
          : { variable: part.parameter ?? '' },
      ];
    case 'CommandExpansion':
      return [{ output: canonical(part.script ?? null) }];
    default:
      return [withoutPlaces(part)];
  }
};

const plainText = (word: Tree[]): { text: string; known: boolean } => ({
  text: word.map((part) => (typeof part === 'string' ? part : '')).join(''),
  known: word.every((part) => typeof part === 'string'),
});
