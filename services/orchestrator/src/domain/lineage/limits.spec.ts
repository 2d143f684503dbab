import { describe, expect, test } from '@jest/globals';
import {
  agentBound,
  depthBound,
  executeBound,
  executeBoundInFix,
  faultBound,
  fixBound,
  indeterminateBound,
  iterationsBound,
  regateBound,
} from './limits.ts';
import { mode } from './lineage.fixture.ts';

const { bounds } = mode();

/** What the bound was asked for, one below it, at it and one above it. */
const cases = [
  ['a depth', 3, (asked: number) => depthBound(asked - 1, bounds)],
  ['fix attempts', 10, (asked: number) => fixBound(asked - 1, bounds)],
  ['iterations', 50, (asked: number) => iterationsBound(asked - 1, bounds)],
  ['runs that end unmet', 3, (asked: number) => executeBound(asked - 1, bounds)],
  ['runs of a fix', 1, (asked: number) => executeBoundInFix(asked - 1)],
  ['checks that could not run', 3, (asked: number) => indeterminateBound(asked, bounds)],
  ['regates in a row', 24, (asked: number) => regateBound(asked - 1, bounds)],
  ['agent runs', 3, (asked: number) => agentBound(asked - 1, bounds)],
  [
    'faults since the last evidence',
    5,
    (asked: number) => faultBound({ class: 'network', count: asked + 7, atLastEvidence: 7, provider: null }, bounds),
  ],
] as const;

test('X06 a fault that is certain has no second try', () => {
  expect(faultBound({ class: 'source', count: 1, atLastEvidence: 0, provider: null }, bounds)).toMatchObject({
    allowed: false,
    limit: 0,
  });
});

describe('X06 a bound', () => {
  test.each(cases)('of %s lets through one below it', (_name, limit, ask) => {
    expect(ask(limit - 1)).toEqual({ allowed: true, limit, used: limit - 2, asked: limit - 1 });
  });
  test.each(cases)('of %s lets through what it says', (_name, limit, ask) => {
    expect(ask(limit)).toEqual({ allowed: true, limit, used: limit - 1, asked: limit });
  });
  test.each(cases)('of %s refuses one more', (_name, limit, ask) => {
    expect(ask(limit + 1)).toEqual({ allowed: false, limit, used: limit, asked: limit + 1 });
  });
});
