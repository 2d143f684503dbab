import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { METRIC_CATALOGUE, type MetricDefinition } from './metric-catalogue.ts';

const page = readFileSync(new URL('../../../../docs/telemetry.md', import.meta.url), 'utf8');

/** What stands in backquotes in a cell of a table. */
const quoted = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, text]) => text ?? []);

/** Rows of the table of metrics. */
const documented = page
  .slice(page.indexOf('## Metrics'), page.indexOf('## Logs'))
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name, kind, unit, attributes]) => ({
    name: quoted(name)[0],
    kind,
    unit: quoted(unit)[0],
    attributes: quoted(attributes),
  }));

describe('every metric', () => {
  test('is in the page on telemetry as it is made, and the page has no others', () => {
    const made = Object.entries<MetricDefinition>(METRIC_CATALOGUE).map(([name, { kind, unit, attributes }]) => ({
      name,
      kind,
      unit,
      attributes,
    }));
    expect(documented.toSorted((a, b) => `${a.name}`.localeCompare(`${b.name}`))).toEqual(
      made.toSorted((a, b) => a.name.localeCompare(b.name)),
    );
  });

  test.each(Object.entries<MetricDefinition>(METRIC_CATALOGUE))(
    '%s has a name and a unit as conventions ask',
    (name, { unit }) => {
      expect(name).toMatch(/^[a-z]+(\.[a-z_]+)+$/);
      expect(unit).toMatch(/^(s|\{[a-z]+\})$/);
    },
  );
});
