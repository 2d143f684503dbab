import { expect, test } from '@jest/globals';
import { boundedCache } from './bounded-cache.ts';

test('makes a value once and drops the longest unused one', () => {
  const made: string[] = [];
  const cached = boundedCache(2, (key) => {
    made.push(key);
    return { key };
  });
  const first = cached('a');
  cached('b');
  expect(cached('a')).toBe(first);
  cached('c');
  expect(cached('a')).toBe(first);
  cached('b');
  expect(made).toEqual(['a', 'b', 'c', 'b']);
});
