import type { CommandArgument, Word, WordPart } from 'unbash';

/** A word of a command line, after quote removal. */
export interface ShellWord {
  readonly text: string;
  /** False when a variable, substitution, glob or brace decides at run time what it says; `text` is then as written. */
  readonly known: boolean;
}

const KNOWN_PARTS: ReadonlySet<WordPart['type']> = new Set(['Literal', 'SingleQuoted', 'AnsiCQuoted']);

const isKnownPart = (part: WordPart): boolean =>
  part.type === 'DoubleQuoted' || part.type === 'LocaleString'
    ? part.parts.every(isKnownPart)
    : KNOWN_PARTS.has(part.type);

export const shellWord = (word: Word): ShellWord => ({
  text: word.value,
  known: word.parts === undefined || word.parts.every(isKnownPart),
});

/** Arguments of `export` and its like may be assignments. */
export const argumentWord = (argument: CommandArgument): ShellWord => {
  if (argument.type === 'Word') return shellWord(argument);
  const value = argument.value.type === 'Word' ? shellWord(argument.value) : { text: '', known: false };
  return { text: `${argument.name}${argument.append === true ? '+=' : '='}${value.text}`, known: value.known };
};
