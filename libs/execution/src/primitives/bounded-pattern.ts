import { runInNewContext } from 'node:vm';
import { z } from 'zod';

// A pattern may take for ever on a harmless text; the engine is interrupted then.
export const patternMs = 250;

const isPattern = (text: string): boolean => {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};

/** JavaScript, Unicode mode; `^` and `$` are the ends of the whole text. */
export const pattern = z.string().refine(isPattern, 'is a regular expression');

/** Which of these texts a pattern is found in; null when it took longer than {@link patternMs}. */
export const foundIn = (source: string, texts: readonly string[]): boolean[] | null => {
  try {
    const script = 'const regex = new RegExp(source, "u"); JSON.stringify(texts.map((text) => regex.test(text)))';
    return JSON.parse(runInNewContext(script, { source, texts }, { timeout: patternMs })) as boolean[];
  } catch {
    return null;
  }
};
