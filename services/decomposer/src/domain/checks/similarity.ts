/** Words of a text in lower case; digits count, punctuation does not. */
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

/** Single words and pairs of neighbours: pairs tell apart what only shares a vocabulary. */
export const shingles = (text: string): ReadonlySet<string> => {
  const words = wordsOf(text);
  return new Set([...words, ...words.slice(1).map((word, at) => `${words[at]} ${word}`)]);
};

/** Jaccard index of two sets, 0 to 1; two empty ones are the same. */
export const similarity = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  if (one.size === 0 && other.size === 0) return 1;
  const shared = [...one].filter((item) => other.has(item)).length;
  return shared / (one.size + other.size - shared);
};
