import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CURSOR_START, type Cursor, compareCursors } from './envelope.ts';

const cursor: fc.Arbitrary<Cursor> = fc.record({
  epoch: fc.nat(2),
  xid: fc.oneof(fc.nat(3), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })).map(String),
  position: fc.oneof(fc.nat(3), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })).map(String),
});

describe('cursors', () => {
  test('are compared as numbers, though they are text', () => {
    expect(compareCursors({ epoch: 0, xid: '9', position: '1' }, { epoch: 0, xid: '10', position: '1' })).toBeLessThan(
      0,
    );
    expect(
      compareCursors(
        { epoch: 0, xid: '18446744073709551615', position: '1' },
        { epoch: 0, xid: '18446744073709551614', position: '9' },
      ),
    ).toBeGreaterThan(0);
  });

  test('have one order: equal only to themselves, and turned round when swapped', () => {
    fc.assert(
      fc.property(cursor, cursor, (a, b) => {
        expect(Math.sign(compareCursors(a, b))).toBe(-Math.sign(compareCursors(b, a)) + 0);
        expect(compareCursors(a, b) === 0).toBe(JSON.stringify(a) === JSON.stringify(b));
        expect(compareCursors(CURSOR_START, a)).toBeLessThanOrEqual(0);
      }),
    );
  });

  test('sorting them is the same from whatever order', () => {
    fc.assert(
      fc.property(fc.array(cursor), (cursors) => {
        const sorted = [...cursors].sort(compareCursors);
        expect([...cursors].reverse().sort(compareCursors)).toEqual(sorted);
      }),
    );
  });
});
