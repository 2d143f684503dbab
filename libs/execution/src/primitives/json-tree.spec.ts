import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { printJson } from './json-print.ts';
import { JsonTextProblem, readJson } from './json-tree.ts';

const form = { indent: '  ', sortKeys: false };

describe('a JSON text', () => {
  test('that is read and printed says the same, and printing again changes nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '    '), fc.boolean(), (value, indent, sortKeys) => {
        const printed = printJson(readJson(JSON.stringify(value, null, indent)), { indent: '  ', sortKeys });
        expect(JSON.parse(printed)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(printJson(readJson(printed), { indent: '  ', sortKeys })).toBe(printed);
      }),
    );
  });

  test('is what JSON.stringify would print of it', () => {
    const value = { b: [1, [], {}, 'ü\u2028"'], 'a b': { c: null, d: [true, -0.5e-7] } };
    expect(printJson(readJson(JSON.stringify(value)), form)).toBe(JSON.stringify(value, null, 2));
  });

  test.each(['1e400', '-0', '12345678901234567890.12345678901234567890', '1E5', '9007199254740993'])(
    'keeps the number %s',
    (number) => expect(printJson(readJson(` [${number}] `), { ...form, indent: '' })).toBe(`[${number}]`),
  );

  test('keeps the order of its keys, also of those that look like numbers, and a key named __proto__', () => {
    const text = '{"10":1,"2":2,"__proto__":{"x":3},"a":4}';
    expect(printJson(readJson(text), { ...form, indent: '' })).toBe(text);
    expect(printJson(readJson('{"a":1,"B":2,"ü":3,"10":4}'), { indent: '', sortKeys: true })).toBe(
      '{"10":4,"B":2,"a":1,"ü":3}',
    );
  });

  test('of megabytes in one string or list is read', () => {
    const big = JSON.stringify([`${'x'.repeat(3_000_000)}\n`.repeat(2), Array.from({ length: 200_000 }, (_, n) => n)]);
    expect(printJson(readJson(big), { ...form, indent: '' })).toBe(big);
  });

  test.each([
    ['', 'line 1, column 1: a value is missing'],
    ['{"a":1,}', 'line 1, column 8: expected "'],
    ['[1,\n 2 3]', 'line 2, column 4: expected ]'],
    ['[1,]', 'a value is missing'],
    ['{"a":1,\n "a":2}', 'line 2, column 2: the key "a" comes twice'],
    ['{"\\u0061":1,"a":2}', 'the key "a" comes twice'],
    ['// c\n{}', 'line 1, column 1: a value is missing'],
    ['{a:1}', 'expected "'],
    ['01', 'more than one value'],
    ['"a', 'a string does not end'],
    ['"a\n"', 'a string does not end'],
    ['"\\x"', 'a string has a wrong escape'],
    ['{} {}', 'more than one value'],
    ['[NaN]', 'a value is missing'],
    ['\uFEFF{}', 'a value is missing'],
    ['['.repeat(100_000), 'nested deeper than 512'],
  ])('%j is none', (text, problem) => {
    expect(() => readJson(text)).toThrow(JsonTextProblem);
    expect(() => readJson(text)).toThrow(problem);
  });
});
