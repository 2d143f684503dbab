/** The word of a list that somebody probably meant: at most two edits away, and not most of the word. Null without one. */
export const closestWord = (written: string, words: readonly string[]): string | null => {
  const limit = Math.min(2, Math.floor(written.length / 3) + 1);
  let best: { word: string; distance: number } | null = null;
  for (const word of words) {
    const distance = editDistance(written.toLowerCase(), word);
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { word, distance };
  }
  return best?.word ?? null;
};

/** Levenshtein distance; long words are never close, which bounds the work. */
const editDistance = (a: string, b: string): number => {
  if (a.length > 64 || Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const char of a) row = nextRow(row, char, b);
  return row.at(-1) ?? 0;
};

const nextRow = (row: readonly number[], char: string, b: string): number[] => {
  const next = [at(row, 0) + 1];
  for (let column = 0; column < b.length; column += 1) {
    const substituted = at(row, column) + (char === b[column] ? 0 : 1);
    next.push(Math.min(substituted, at(row, column + 1) + 1, at(next, column) + 1));
  }
  return next;
};

const at = (row: readonly number[], column: number): number => row[column] ?? 0;
