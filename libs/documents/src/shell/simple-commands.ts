import type { Command } from 'unbash';
import { nodesOf, parseShell } from './parse-shell.ts';

/** One command with its arguments as it is written, without the assignments before it and its redirections. */
export interface SimpleCommand {
  readonly text: string;
  /** Offset of the text in the whole, in UTF-16 code units. */
  readonly start: number;
  /** Assignments or redirections stand before it: what replaces it must be a simple command too. */
  readonly hasPrefix: boolean;
}

/**
 * Commands of a shell text in source order, wherever they stand; never what only looks like one inside quotes or a
 * here-document. Empty for a text that can not be read. A command with a redirection between its words ends before it.
 */
export const simpleCommands = (text: string): readonly SimpleCommand[] => {
  const parsed = parseShell(text);
  if (!parsed.readable) return [];
  return [...nodesOf(parsed.script)].flatMap((node) => (node.type === 'Command' ? simpleCommand(node, text) : []));
};

const simpleCommand = ({ name, prefix, suffix }: Command, source: string): SimpleCommand[] => {
  // Inside backquotes the source has escapes that positions do not count.
  if (name === undefined || source.slice(name.pos, name.end) !== name.text) return [];
  const firstRedirection = suffix.findIndex(({ type }) => type !== 'Word' && type !== 'Assignment');
  const words = firstRedirection < 0 ? suffix : suffix.slice(0, firstRedirection);
  const end = words.at(-1)?.end ?? name.end;
  return [{ text: source.slice(name.pos, end), start: name.pos, hasPrefix: prefix.length > 0 }];
};

/**
 * A shell text in which commands are written anew.
 * @param rewrite answers with the command's new text, or the same text to leave it.
 */
export const rewriteCommands = (text: string, rewrite: (command: SimpleCommand) => string): string => {
  let result = '';
  let done = 0;
  for (const command of simpleCommands(text)) {
    // Inside one that was written anew.
    if (command.start < done) continue;
    const rewritten = rewrite(command);
    if (rewritten === command.text) continue;
    result += text.slice(done, command.start) + rewritten;
    done = command.start + command.text.length;
  }
  return result + text.slice(done);
};
