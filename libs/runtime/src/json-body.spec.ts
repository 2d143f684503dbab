import { describe, expect, test } from '@jest/globals';
import { HttpProblem } from './http-problem.ts';
import { parseJsonBody } from './json-body.ts';

const refusal = (text: string): HttpProblem | null => {
  try {
    parseJsonBody(text);
    return null;
  } catch (error) {
    if (error instanceof HttpProblem) return error;
    throw error;
  }
};

describe('a JSON body', () => {
  test('is read', () => expect(parseJsonBody('{"a":[1,"x",null]}')).toEqual({ a: [1, 'x', null] }));
  test('may be missing', () => expect(parseJsonBody(' \n')).toBeUndefined());
  test('may hold NUL and lone surrogates', () => {
    expect(parseJsonBody('{"a":"\\u0000\\ud800"}')).toEqual({ a: '\u0000\ud800' });
  });
  test('may hold long digits in texts and fractions', () => {
    expect(parseJsonBody('{"a":"12345678901234567890","b":0.12345678901234567890}')).toMatchObject({
      a: '12345678901234567890',
    });
  });
  test('keeps the greatest integers that are exact', () => {
    expect(parseJsonBody('[9007199254740991,-9007199254740991]')).toEqual([9007199254740991, -9007199254740991]);
  });

  test.each([
    ['an integer beyond 2^53', '{"a":9007199254740993}', 'integer_beyond_2_53'],
    ['an integer written with an exponent that no number holds', '[1e400]', 'integer_beyond_2_53'],
    ['a key that would change the prototype', '{"__proto__":{"a":1}}', 'key_not_allowed'],
    ['such a key in disguise', '{"\\u005f_proto__":{"a":1}}', 'key_not_allowed'],
  ])('is refused with %s', (_what, text, code) => {
    expect(refusal(text)).toMatchObject({ status: 400, body: { code } });
  });

  test('that does not parse is refused with line and column', () => {
    expect(refusal('{\n  "a": 1,\n  b: 2\n}')?.body).toMatchObject({
      code: 'body_not_json',
      diagnostics: [{ code: 'body_not_json', line: 3, column: 3 }],
    });
  });

  test('that ends too early is refused at its end', () => {
    expect(refusal('{"a":')?.body.diagnostics).toMatchObject([{ line: 1, column: 6 }]);
  });
});
