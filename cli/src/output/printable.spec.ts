import { describe, expect, test } from '@jest/globals';
import { jsonLine, oneLine, printable } from './printable.ts';

describe('text for a terminal', () => {
  test.each([
    ['a\u0000b', 'a\\x00b'],
    ['\u001b[31mred', '\\x1b[31mred'],
    ['\u009b2J', '\\x9b2J'],
    ['over\rwritten', 'over\\x0dwritten'],
    ['\u202egnp.exe', '\\u202egnp.exe'],
    ['one\u2028line', 'one\\u2028line'],
  ])('shows %j and does not obey it', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });
  test('leaves words, lines and tabs of every script alone', () => {
    const text = 'naïve\n\t日本語 🙂 עברית';
    expect(printable(text)).toBe(text);
  });
  test('takes the line ends of other systems for line ends', () => {
    expect(printable('a\r\nb')).toBe('a\nb');
  });
});

describe('one line', () => {
  test('says where it was cut', () => {
    expect(oneLine('  make\n  all  ', 8)).toBe('make all');
    expect(oneLine('make all', 7)).toBe('make a…');
  });
});

describe('a line of JSON', () => {
  test('is exact, on one line, and steers no terminal', () => {
    const value = { text: 'a\u0000\u001b[2J\u009b\n\u2028\u202e\ud800 🙂' };
    const line = jsonLine(value);
    expect(JSON.parse(line)).toEqual(value);
    expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028]/u);
  });
});
