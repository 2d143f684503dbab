import { MAX_DEPTH } from './limits.ts';

/** A string, and whether a colon after it makes it a key. One pass, no backtracking. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/**
 * The value of a text that is plain JSON in every respect; undefined for everything else, which the YAML reader then
 * judges: text that is no JSON, a key that stands twice, a number that can not be kept, deep nesting.
 * About fifty times faster than the YAML reader (10 µs against 600 µs for a task of 300 characters).
 */
export const plainJson = (text: string): unknown => {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const keys = countKeys(value, 0);
  return keys !== null && keys === writtenKeys(text) ? value : undefined;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Keys of the value at all levels; null when something in it can not be kept. */
const countKeys = (value: unknown, depth: number): number | null => {
  if (typeof value === 'number') return isKept(value) ? 0 : null;
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= MAX_DEPTH) return null;
  let keys = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const inner of Object.values(value)) {
    const more = countKeys(inner, depth + 1);
    if (more === null) return null;
    keys += more;
  }
  return keys;
};

const isKept = (number: number): boolean =>
  Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number)) && !Object.is(number, -0);

/** `JSON.parse` keeps the last of two equal keys, so the value alone does not show the first. */
const writtenKeys = (text: string): number => {
  let keys = 0;
  for (const match of text.matchAll(STRINGS)) if (match[1] !== undefined) keys += 1;
  return keys;
};
