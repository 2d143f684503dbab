import { createContext, Script } from 'node:vm';

/** Longest text that rules look at, in UTF-16 code units. */
export const MAX_LOOKED_AT = 8 * 1024;
/** Enough for any honest pattern on 8 KiB; a pattern that backtracks without end is stopped here. */
const TIMEOUT_MS = 1_000;

/** A pattern that did not end in time: its rule is passed over. */
export class PatternTooSlow extends Error {
  override readonly name = 'PatternTooSlow';
}

// A regular expression can only be interrupted from outside, and only by the time limit of a vm script.
const matching = new Script(
  'JSON.stringify(Array.from(text.matchAll(new RegExp(source, "gm")), (m) => [m[0], m.groups ?? {}]))',
);
const replacing = new Script('text.replace(new RegExp(source, "gm"), replacement)');
const replacingOnce = new Script('text.replace(new RegExp(source), replacement)');

const testing = new Script('new RegExp(source).test(text)');

export interface Match {
  readonly text: string;
  readonly groups: Readonly<Record<string, string | undefined>>;
}

/** Every match of a pattern; `^` and `$` are lines. @throws {PatternTooSlow} */
export const matchesOf = (source: string, text: string): Match[] => {
  const found: unknown = JSON.parse(run(matching, { source, text }));
  return Array.isArray(found) ? found.map(([whole, groups]) => ({ text: whole, groups })) : [];
};

/** Replaces every match; `$1` and `$<name>` in the replacement as in `String.replace`. @throws {PatternTooSlow} */
export const replaceAll = (source: string, text: string, replacement: string): string =>
  run(replacing, { source, text, replacement });

/** Replaces the first match; `^` and `$` are the ends of the text. @throws {PatternTooSlow} */
export const replaceFirst = (source: string, text: string, replacement: string): string =>
  run(replacingOnce, { source, text, replacement });

/** Whether a pattern matches; `^` and `$` are the ends of the text. @throws {PatternTooSlow} */
export const isLike = (source: string, text: string): boolean => run(testing, { source, text }) === 'true';

/** One for all: to make a context takes longer than to match, and nothing that runs in it leaves anything behind. */
const context = createContext({});

const run = (script: Script, values: Record<string, string>): string => {
  try {
    return String(script.runInContext(Object.assign(context, values), { timeout: TIMEOUT_MS }));
  } catch (error) {
    if (
      typeof error === 'object' &&
      error !== null &&
      'code' in error &&
      error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
    ) {
      throw new PatternTooSlow(`the pattern ${values.source} did not end in ${TIMEOUT_MS} ms`);
    }
    throw error;
  }
};
