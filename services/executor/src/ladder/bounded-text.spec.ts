import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { boundedText } from './bounded-text.ts';

describe('bounded text', () => {
  test('keeps what fits', () => expect(boundedText('plain', 100)).toBe('plain'));
  test('says that it cut', () => expect(boundedText('x'.repeat(200), 100)).toMatch(/^x+… \[truncated\]$/));
  test('E1 counts a NUL as the six bytes that JSON needs for it', () => {
    expect(Buffer.byteLength(JSON.stringify(boundedText('\0'.repeat(4096), 8192)))).toBeLessThanOrEqual(8194);
  });
  test('never writes more than it may, and never cuts a pair in two', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), fc.integer({ min: 40, max: 300 }), (text, most) => {
        const bounded = boundedText(text, most);
        expect(Buffer.byteLength(JSON.stringify(bounded)) - 2).toBeLessThanOrEqual(most);
        expect(bounded.isWellFormed()).toBe(text.isWellFormed());
      }),
    );
  });
});
