import type { AndOr, ArithmeticExpression, Command, CompoundList, PipelineNode, Redirection, Statement } from 'unbash';
import { constantTest } from './constant-test.ts';
import { nodesOf, parseShell } from './parse-shell.ts';
import { argumentWord, type ShellWord, shellWord } from './words.ts';
import { shellCall, wrappedWords } from './wrappers.ts';

/** What a piece of shell text may end as; `exit_` when the whole shell ends with it. */
type End = 'true' | 'false' | 'exit_true' | 'exit_false';
type Ends = ReadonlySet<End>;

const ends = (...list: readonly End[]): Ends => new Set(list);
const SUCCEEDS = ends('true');
const FAILS = ends('false');
const EITHER = ends('true', 'false');
const ANY = ends('true', 'false', 'exit_true', 'exit_false');

/**
 * Whether the text succeeds whatever the world looks like: `true`, `:`, `exit 0`, nothing at all, and what is composed of
 * such (`check || true`, `check; exit 0`, `sh -c true`, `[ 1 ]`). A postcondition like that says nothing.
 * Errs towards false: an unreadable or undecided text is not vacuous.
 */
export const isVacuous = (text: string): boolean => {
  const possible = endsOfText(text);
  return !possible.has('false') && !possible.has('exit_false');
};

const endsOfText = (text: string, wasToldToStop = false): Ends => {
  const parsed = parseShell(text);
  if (!parsed.readable) return ANY;
  const stopsOnError =
    wasToldToStop || [...nodesOf(parsed.script)].some((node) => node.type === 'Command' && setsErrorExit(node));
  return endsOfList(parsed.script.commands, stopsOnError);
};

const setsErrorExit = (command: Command): boolean =>
  command.name?.value === 'set' &&
  command.args.some((word) => /^-[a-z]*[eu]|errexit|pipefail/.test(argumentWord(word).text));

const endsOfList = (statements: readonly Statement[], stopsOnError = false): Ends => {
  let before: Ends = SUCCEEDS;
  for (const { command, background } of statements) {
    const now = background === true ? SUCCEEDS : endsOf(command);
    before = after(before, stopsOnError ? mapped(now, (end) => (end === 'false' ? 'exit_false' : end)) : now);
  }
  return before;
};

const isExit = (end: End): boolean => end.startsWith('exit_');

const mapped = (possible: Ends, change: (end: End) => End): Ends => new Set([...possible].map(change));

/** Ends of two pieces that run one after the other. */
const after = (first: Ends, second: Ends): Ends => {
  const exits = [...first].filter(isExit);
  return exits.length === first.size ? first : new Set([...exits, ...second]);
};

/** What a subshell, pipeline or `sh -c` makes of it: its exit ends only itself. */
const contained = (possible: Ends): Ends =>
  mapped(possible, (end) => (end === 'exit_true' ? 'true' : end === 'exit_false' ? 'false' : end));

const endsOf = (node: PipelineNode | AndOr): Ends => {
  switch (node.type) {
    case 'AndOr':
      return endsOfAndOr(node);
    case 'Pipeline': {
      const last = node.commands.at(-1);
      const piped = last === undefined ? EITHER : node.commands.length === 1 ? endsOf(last) : contained(endsOf(last));
      const isNegated = node.prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1;
      return isNegated ? mapped(piped, (end) => (end === 'true' ? 'false' : end === 'false' ? 'true' : end)) : piped;
    }
    case 'Command':
      return withRedirects(endsOfCommand(node), node.redirects);
    case 'Redirected':
      return withRedirects(endsOf(node.command), node.redirects);
    case 'Subshell':
      return contained(endsOfList(node.body.commands));
    case 'BraceGroup':
      return endsOfList(node.body.commands);
    case 'If':
      return endsOfIf([node, ...node.elif], node.else);
    case 'For':
      return node.wordlist === undefined ? EITHER : new Set([...SUCCEEDS, ...endsOfList(node.body.commands)]);
    case 'ArithmeticCommand':
      return endsOfArithmetic(node.expression);
    case 'Function':
      return SUCCEEDS;
    default:
      return ANY;
  }
};

const endsOfAndOr = ({ commands, operators }: AndOr): Ends => {
  const [first, ...rest] = commands;
  let left = first === undefined ? SUCCEEDS : endsOf(first);
  for (const [at, command] of rest.entries())
    left = endsOfPair(left, operators[at] === '&&' ? 'true' : 'false', command);
  return left;
};

/** The right side runs only after one of the ends of the left side. */
const endsOfPair = (left: Ends, goesOn: End, command: PipelineNode): Ends =>
  left.has(goesOn) ? new Set([...[...left].filter((end) => end !== goesOn), ...endsOf(command)]) : left;

const endsOfIf = (
  branches: readonly { clause: CompoundList; then: CompoundList }[],
  otherwise: CompoundList | undefined,
): Ends => {
  const [branch, ...rest] = branches;
  if (branch === undefined) return otherwise === undefined ? SUCCEEDS : endsOfList(otherwise.commands);
  const asked = endsOfList(branch.clause.commands);
  return new Set([
    ...[...asked].filter(isExit),
    ...(asked.has('true') ? endsOfList(branch.then.commands) : []),
    ...(asked.has('false') ? endsOfIf(rest, otherwise) : []),
  ]);
};

const endsOfArithmetic = (expression: ArithmeticExpression | undefined): Ends => {
  if (expression?.type !== 'ArithmeticWord' || !/^\d+$/.test(expression.value)) return EITHER;
  return Number(expression.value) === 0 ? FAILS : SUCCEEDS;
};

/** A redirection to a file may fail; one to the null device or another descriptor does not. */
const withRedirects = (possible: Ends, redirects: readonly Redirection[]): Ends => {
  const isHarmless = redirects.every(
    (redirect) =>
      redirect.type !== 'Redirect' || redirect.operator.endsWith('&') || redirect.target?.value === '/dev/null',
  );
  return isHarmless ? possible : new Set([...possible, 'false']);
};

const endsOfCommand = (command: Command): Ends => {
  if (command.name === undefined) {
    return command.prefix.every((part) => part.type !== 'Assignment' || isConstant(part.value)) ? SUCCEEDS : EITHER;
  }
  return endsOfWords([shellWord(command.name), ...command.args.map(argumentWord)]);
};

const isConstant = (value: { readonly type: string }): boolean =>
  value.type === 'Word' && !JSON.stringify(value).includes('"CommandExpansion"');

const isErrorExitFlag = ({ text }: ShellWord): boolean => /^-[A-Za-z]*e/.test(text);

const endsOfWords = (words: readonly ShellWord[]): Ends => {
  const [name, ...args] = words;
  if (name === undefined || !name.known) return ANY;
  const program = name.text.slice(name.text.lastIndexOf('/') + 1);
  if (program === 'exec' && args.length > 0) return ends('exit_true', 'exit_false');
  const code = shellCall(program, args)?.text;
  if (code?.known === true) return contained(endsOfText(code.text, args.some(isErrorExitFlag)));
  const wrapped = wrappedWords(program, args);
  if (wrapped.length > 0 && program !== 'sudo' && program !== 'xargs') return contained(endsOfWords(wrapped));
  return endsOfProgram(program, args);
};

const endsOfProgram = (program: string, args: readonly ShellWord[]): Ends => {
  switch (program) {
    case 'true':
    case ':':
    case 'echo':
    case 'printf':
      return SUCCEEDS;
    case 'false':
      return FAILS;
    case 'exit':
    case 'return':
      return exitOf(args[0]);
    case 'test':
    case '[':
      return endsOfTest(program === '[' ? args.slice(0, -1) : args);
    case 'eval':
      return args.every(({ known }) => known) ? endsOfText(args.map(({ text }) => text).join(' ')) : ANY;
    case '.':
    case 'source':
    case 'kill':
      return ANY;
    default:
      return EITHER;
  }
};

const exitOf = (code: ShellWord | undefined): Ends => {
  if (code === undefined || !code.known) return ends('exit_true', 'exit_false');
  return ends(Number(code.text) % 256 === 0 ? 'exit_true' : 'exit_false');
};

const endsOfTest = (operands: readonly ShellWord[]): Ends => {
  if (!operands.every(({ known }) => known)) return EITHER;
  const holds = constantTest(operands.map(({ text }) => text));
  return holds === null ? EITHER : holds ? SUCCEEDS : FAILS;
};
