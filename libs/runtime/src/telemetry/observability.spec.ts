import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { METRIC_CATALOGUE, type MetricDefinition } from './metric-catalogue.ts';

const read = (name: string): string =>
  readFileSync(new URL(`../../../../deploy/observability/${name}`, import.meta.url), 'utf8');

const underscored = (name: string): string => name.replaceAll('.', '_');

const SUFFIXES = { counter: ['_total'], gauge: [''], histogram: ['_bucket', '_sum', '_count'] } as const;

/** Names of series, as the Prometheus exporter writes them, with the labels that they may have. */
const SERIES = new Map(
  Object.entries<MetricDefinition>(METRIC_CATALOGUE).flatMap(([name, { kind, attributes }]) =>
    SUFFIXES[kind].map((suffix) => [`${underscored(name)}${suffix}`, attributes.map(underscored)] as const),
  ),
);

/** Words of the query language, and labels that every histogram has. */
const LANGUAGE = new Set([
  ...['max', 'sum', 'by', 'rate', 'increase', 'histogram_quantile', 'le', 'unless', 'on', 'm', 'h'],
]);

/** What of a query is neither a series that exists, nor a label of one in it, nor the language's own. */
const unknownIn = (query: string): string[] => {
  const words = query.replaceAll(/"[^"]*"/g, '').match(/[a-z_]+/g) ?? [];
  const labels = new Set(words.flatMap((word) => SERIES.get(word) ?? []));
  return words.filter((word) => !SERIES.has(word) && !labels.has(word) && !LANGUAGE.has(word));
};

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(read('grafana-dashboard.json'));
const panels = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const));

const rules = [
  ...read('prometheus-rules.yaml').matchAll(/- alert: (\w+)\n\s+expr: (?:>-\n)?([\s\S]*?)\n\s+(?:for|labels):/g),
].map(([, name = '', expr = '']) => [name, expr] as const);

describe('what is shown and alarmed', () => {
  test.each([...panels, ...rules])('%s asks for what there is', (_, query) => {
    expect(unknownIn(query)).toEqual([]);
    expect((query.match(/[a-z_]+/g) ?? []).some((word) => SERIES.has(word))).toBe(true);
  });

  test('every metric is on the dashboard', () => {
    const text = panels.map(([, query]) => query).join('\n');
    const missing = Object.keys(METRIC_CATALOGUE).filter((name) => !text.includes(underscored(name)));
    expect(missing).toEqual([]);
  });

  test('the watermark, dead letters, providers, lag, backlog and a standstill are alarmed', () => {
    expect(rules.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        ...['FixpointWatermarkStandsStill', 'FixpointDeadLetters', 'FixpointReaderLags', 'FixpointBacklog'],
        ...['FixpointNoProgress', 'FixpointProviderWithHuman', 'FixpointProviderPaused'],
      ]),
    );
  });
});
