/**
 * A shell text without the words that name these paths, quoted or not, with or without `./` and a closing slash.
 * Null when a path is not there as a word of its own (a glob or a variable made it): then nothing would be corrected.
 */
export const dropWords = (command: string, paths: readonly string[]): string | null => {
  const wanted = [...new Set(paths.filter((path) => path !== ''))];
  if (wanted.length === 0) return null;
  let text = command;
  for (const path of wanted) {
    const without = dropWord(text, path);
    if (without === text) return null;
    text = without;
  }
  return text;
};

const dropWord = (text: string, path: string): string =>
  [path, `'${path}'`, `"${path}"`]
    .flatMap((word) => withSlash(word).flatMap((form) => (/^['"]/.test(form) ? [form] : [form, `./${form}`])))
    .reduce((rest, form) => dropForm(rest, form), text);

const withSlash = (word: string): string[] => {
  const quote = /^['"]/.exec(word)?.[0] ?? '';
  const bare = quote === '' ? word : word.slice(1, -1);
  return [word, `${quote}${bare}/${quote}`];
};

const ENDS = new Set(['', ' ', '\t', '\n', ';', '&', '|', ')']);

/** Only where the form is a whole word: a space before it, and the end of a word after it. */
const dropForm = (text: string, form: string): string => {
  let result = text;
  for (let at = result.indexOf(` ${form}`); at >= 0; at = result.indexOf(` ${form}`, at + 1)) {
    const after = at + form.length + 1;
    if (ENDS.has(result[after] ?? '')) result = result.slice(0, at) + result.slice(after);
  }
  return result;
};
