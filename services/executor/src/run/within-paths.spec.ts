import { describe, expect, test } from '@jest/globals';
import { outsideOf } from './within-paths.ts';

const changed = ['api/a.ts', 'api/routes/b.ts', 'web/c.ts', 'node_modules/.cache/x', 'README.md'];
const outside = (paths: string[][], keep: string[] = []) => outsideOf({ paths, keep }, changed);

describe('what a part changed outside of its paths', () => {
  test('is what no glob covers; a folder covers all that is in it', () => {
    expect(outside([['api', '*.md']])).toEqual(['web/c.ts', 'node_modules/.cache/x']);
  });

  test('is what any of the limits leaves out', () => {
    expect(outside([['api/**', 'web/**'], ['api/routes/**']])).toEqual([
      ...['api/a.ts', 'web/c.ts', 'node_modules/.cache/x', 'README.md'],
    ]);
  });

  test('is nothing that is only kept between runs', () => {
    expect(outside([['api/**', 'web/**', '*.md']], ['node_modules/.cache'])).toEqual([]);
  });
});
