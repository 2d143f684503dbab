import type { Command, Redirect, Redirection, SyntaxNode, Word } from 'unbash';
import { looksNetworked, pathsIn } from './guesses.ts';
import { nodesOf, parseShell } from './parse-shell.ts';
import { argumentWord, type ShellWord, shellWord } from './words.ts';
import { linesOfFind, shellCall, textsRunBy, wrappedWords } from './wrappers.ts';

/** One command that a shell text runs or may run. */
export interface ShellCommand {
  /** Name without folder, quotes and escapes: `/usr/bin/curl` is `curl`. Empty for a redirection that stands alone. */
  readonly program: string;
  readonly args: readonly string[];
  /** Words and redirections that name files, as far as can be told; as written, not resolved. */
  readonly paths: readonly string[];
  /** It looks as if it talked to another host. */
  readonly network: boolean;
  /** What runs is only known at run time: the program is an expansion, or a shell gets code that is not in the text. */
  readonly dynamic: boolean;
  /** Source text of the command line it stands in. */
  readonly text: string;
}

export type ShellCommands =
  | { readonly readable: true; readonly commands: readonly ShellCommand[] }
  | { readonly readable: false; readonly problem: string };

interface Line {
  readonly words: readonly ShellWord[];
  readonly redirects: readonly Redirection[];
  readonly text: string;
  readonly depth: number;
}

const deepest = 8;

class Unreadable extends Error {}

/**
 * All commands of a shell text, in source order, in whatever construct they stand: pipelines, subshells, substitutions,
 * functions, `sh -c`, `eval`, `find -exec`, and behind wrappers (the wrapper first, then what it runs).
 * An unreadable text has no commands: whoever decides on them must refuse it.
 */
export const shellCommands = (text: string): ShellCommands => readable(() => commandsOfText(text, 0));

/** The commands of a command line that is given as a list of words. */
export const argvCommands = (argv: readonly string[]): ShellCommands => {
  const words = argv.map((text) => ({ text, known: true }));
  return readable(() => commandsOfLine({ words, redirects: [], text: argv.join(' '), depth: 0 }));
};

const readable = (read: () => readonly ShellCommand[]): ShellCommands => {
  try {
    return { readable: true, commands: read() };
  } catch (error) {
    if (error instanceof Unreadable) return { readable: false, problem: error.message };
    throw error;
  }
};

const commandsOfText = (text: string, depth: number): ShellCommand[] => {
  if (depth > deepest) throw new Unreadable(`code inside code, more than ${deepest} levels deep`);
  const parsed = parseShell(text);
  if (!parsed.readable) throw new Unreadable(parsed.problem);
  return [...nodesOf(parsed.script)].flatMap((node) => commandsOfLine(lineOf(node, text, depth)));
};

const lineOf = (node: SyntaxNode, source: string, depth: number): Line => {
  const text = source.slice(node.pos, node.end);
  if (node.type === 'Command') return { words: wordsOf(node), redirects: node.redirects, text, depth };
  return { words: [], redirects: node.type === 'Redirected' ? node.redirects : [], text, depth };
};

const wordsOf = (command: Command): ShellWord[] =>
  command.name === undefined ? [] : [shellWord(command.name), ...command.args.map(argumentWord)];

const commandsOfLine = (line: Line): ShellCommand[] => {
  const [name, ...args] = line.words;
  if (name === undefined)
    return line.redirects.some(isFileTarget) ? [commandOf({ text: '', known: true }, args, line)] : [];
  const program = baseName(name.text);
  const wrapped = [wrappedWords(program, args), ...(program === 'find' ? linesOfFind(args) : [])];
  return [
    commandOf(name, args, line),
    ...wrapped.flatMap((words) => commandsOfLine({ ...line, words, redirects: [] })),
    ...textsOf(program, args, line).flatMap(({ text }) => commandsOfText(text, line.depth + 1)),
  ];
};

const commandOf = (name: ShellWord, args: readonly ShellWord[], line: Line): ShellCommand => {
  const program = baseName(name.text);
  const targets = line.redirects.filter(isFileTarget).map((redirect) => shellWord(redirect.target));
  const file = name.text.includes('/') ? [name.text] : [];
  return {
    program,
    args: args.map(({ text }) => text),
    paths: [...file, ...pathsIn(program, args, targets)],
    network: looksNetworked(program, args, targets),
    dynamic: !name.known || runsUnseenCode(program, args, line),
    text: line.text,
  };
};

const baseName = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

const isFileTarget = (redirect: Redirection): redirect is Redirect & { target: Word } =>
  redirect.type === 'Redirect' && redirect.target !== undefined && !redirect.operator.endsWith('&');

/** Texts in this line that will be run as code and can be read now. */
const textsOf = (program: string, args: readonly ShellWord[], line: Line): ShellWord[] =>
  codeOf(program, args, line).filter(isKnown);

const isKnown = ({ known }: ShellWord): boolean => known;

const codeOf = (program: string, args: readonly ShellWord[], { redirects }: Line): ShellWord[] => {
  const call = shellCall(program, args);
  if (call === null) return [...textsRunBy(program, args)];
  if (call.text !== null) return [call.text];
  return call.readsInput ? redirects.flatMap(inputOf) : [];
};

const inputOf = (redirect: Redirection): ShellWord[] => {
  if (redirect.type === 'HereDoc') return [{ text: redirect.body.text, known: redirect.body.parts === undefined }];
  return redirect.type === 'HereString' && redirect.target !== undefined ? [shellWord(redirect.target)] : [];
};

const runsUnseenCode = (program: string, args: readonly ShellWord[], line: Line): boolean => {
  const code = codeOf(program, args, line);
  return code.length === 0 ? (shellCall(program, args)?.readsInput ?? false) : !code.every(isKnown);
};
