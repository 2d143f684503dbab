import type { TaskDocument } from '../task-document.ts';
import type { ValuePath } from '../text/source-text.ts';
import { type Finding, found } from './finding.ts';

/** What looks like a reference of ours; other `${{ … }}`, such as those of other tools, are text like any other. */
const REFERENCE = /\$\{\{\s*(?:inputs|nodes)\b/;

/** Values of the user, in which nothing is looked for; and parts, which are looked at each for itself. */
const DATA = new Set(['inputs', 'json_schema', 'parts']);

/** References in texts that nothing is filled into: above all in commands, where a value would become program text. */
export const lintStrayReferences = (document: TaskDocument): Finding[] => strays(document, []);

const strays = (value: unknown, path: ValuePath): Finding[] => {
  if (typeof value === 'string')
    return REFERENCE.test(value) ? [found('FX131', path, { message: messageAt(path) })] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (isElsewhere(key) ? [] : strays(inner, [...path, key])));
};

/** Looked at where references are read, or never. */
const isElsewhere = (key: string): boolean => DATA.has(key) || ['goal', 'env', 'with'].includes(key);

const messageAt = (path: ValuePath): string => {
  const key = String(path.at(-1));
  return key === 'command' || key === 'script'
    ? `Nothing is ever filled into a ${key}: values reach it as environment variables.`
    : `Nothing is filled in here (\`${key}\`).`;
};
