import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CursorInvalid, decodeCursor, encodeCursor, pageOf } from './page.ts';

const kinds = ['string', 'string', 'number'] as const;

describe('page cursor', () => {
  test('gives back what it was made of', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 90 }), fc.string({ maxLength: 90 }), fc.nat(2 ** 31 - 1), (a, b, n) => {
        const key = [a.replaceAll('\0', ''), b.replaceAll('\0', ''), n];
        expect(decodeCursor(encodeCursor(key), kinds)).toEqual(key);
      }),
    );
  });

  test.each([
    ['nothing', ''],
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('{').toString('base64url')],
    ['another page', encodeCursor(['a', 'b'])],
    ['other kinds', encodeCursor(['a', 1, 'b'])],
    ['a number that no column holds', encodeCursor(['a', 'b', 2 ** 31])],
    ['a fraction', encodeCursor(['a', 'b', 1.5])],
  ])('made of %s is refused', (_name, cursor) => {
    expect(() => decodeCursor(cursor, kinds)).toThrow(CursorInvalid);
  });

  test('has no character that a column cannot hold', () => {
    expect(decodeCursor(encodeCursor(['a\0b', '\ud800', 1]), kinds)).toEqual(['a␀b', '\ufffd', 1]);
  });
});

describe('page', () => {
  const keyOf = (row: string) => [row];

  test('names where the next one begins while there is one', () => {
    expect(pageOf(['a', 'b', 'c'], 2, keyOf)).toEqual({ items: ['a', 'b'], next: encodeCursor(['b']) });
  });

  test('is the last one when nothing is left', () => {
    expect(pageOf(['a', 'b'], 2, keyOf)).toEqual({ items: ['a', 'b'], next: null });
    expect(pageOf([], 2, keyOf)).toEqual({ items: [], next: null });
  });
});
