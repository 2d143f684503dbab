import { readFileSync } from 'node:fs';
import type { ExportedSpan } from './otlp-collector.ts';

/** A row of the table of spans. */
export interface DocumentedSpan {
  readonly name: string;
  readonly pattern: RegExp;
  readonly attributes: ReadonlySet<string>;
}

const PAGE = new URL('../../../docs/telemetry.md', import.meta.url);

const quoted = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, text]) => text ?? []);

/** Words in capitals stand for any one word. */
const patternOf = (name: string): RegExp =>
  new RegExp(`^${name.replace('/route', '/\\S+').replaceAll(/[A-Z]{2,}/g, '\\S+')}$`);

/** What docs/telemetry.md says of spans. */
export const documentedSpans = (): readonly DocumentedSpan[] => {
  const page = readFileSync(PAGE, 'utf8');
  const rows = page.slice(page.indexOf('## Spans'), page.indexOf('## Metrics')).split('\n');
  return rows
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|'))
    .map(([, span, , attributes]) => {
      const [name = ''] = quoted(span);
      return { name, pattern: patternOf(name), attributes: new Set(quoted(attributes)) };
    });
};

/** Names and attributes that were sent and are in no row, once each. */
export const undocumented = (spans: readonly ExportedSpan[], rows: readonly DocumentedSpan[]): readonly string[] => {
  const problems = spans.flatMap(({ name, attributes }) => {
    const row = rows.find(({ pattern }) => pattern.test(name));
    if (row === undefined) return [name];
    return Object.keys(attributes).flatMap((key) => (row.attributes.has(key) ? [] : [`${row.name}: ${key}`]));
  });
  return [...new Set(problems)];
};
