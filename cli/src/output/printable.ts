/** Control characters but newline and tab, and characters that change the order or the lines of the text around them. */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const escapeOf = (character: string): string => {
  const code = character.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
};

/** Text that a terminal shows and never obeys: what could steer it is written as `\x1b`, `\u202e`, … */
export const printable = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(UNSAFE, escapeOf);

/** One line of it, with an explicit mark where it was cut. @param most length, in UTF-16 units */
export const oneLine = (text: string, most: number): string => {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
};

/** JSON on one line, exact, and as safe to look at as {@link printable} text. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
