import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_TEXT } from './limits.ts';
import { readSource, sourceAt } from './source-text.ts';

const read = (text: string): unknown => readSource(text).source?.value;
const codesOf = (text: string): string[] => readSource(text).diagnostics.map(({ code }) => code);

describe('texts', () => {
  test('NUL and lone surrogates are kept when they are escaped', () => {
    expect(read('a: "x\\0y"\nb: "\\ud800"\nc: "\\ud83d\\ude00"\n')).toEqual({ a: 'x\0y', b: '\ud800', c: '😀' });
    expect(read('{"a": "\\u0000", "b": "\\udfff!"}')).toEqual({ a: '\0', b: '\udfff!' });
  });

  test('a key that is a name of Object is a key like any other', () => {
    const value = read('__proto__: { x: 1 }\nconstructor: 2\n');
    expect(Object.entries(value ?? {})).toEqual([
      ['__proto__', { x: 1 }],
      ['constructor', 2],
    ]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  const anyText = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        fc.constantFrom('\0', '\ud800', '\udfff', '\u2028', '\ufeff'),
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(''));
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      anyText,
      fc.maxSafeInteger(),
      fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(null, true, false),
      fc.array(tie('json'), { maxLength: 4 }),
      fc.dictionary(anyText, tie('json'), { maxKeys: 4 }),
    ),
  }));

  test('any JSON is read as it was written', () => {
    fc.assert(
      fc.property(fc.record({ a: json }), fc.constantFrom('', '\t', '  '), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(read(text)).toEqual(JSON.parse(text));
        // A comment makes it YAML and nothing but YAML.
        expect(read(`${text} # x`)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });
});

describe('numbers', () => {
  test.each(['9007199254740991', '-9007199254740991', '0.5', '1e3'])('%s is kept', (number) => {
    expect(read(`a: ${number}\n`)).toEqual({ a: Number(number) });
  });

  test.each(['9007199254740992', '-9007199254740993', '0x20000000000001', '1e400', '.nan', '-.inf'])(
    '%s is refused',
    (number) => {
      expect(codesOf(`a: ${number}\n`)).toEqual(['FX004']);
    },
  );

  test('as text it is kept', () => {
    expect(read('a: "9007199254740993"\n')).toEqual({ a: '9007199254740993' });
  });
});

describe('aliases', () => {
  test('stand for a copy of their anchor', () => {
    expect(read('a: &x [1]\nb: *x\n')).toEqual({ a: [1], b: [1] });
  });

  test.each([
    ['without an anchor', 'a: *x\n'],
    ['to something around it', 'a: &x [*x]\n'],
    [
      'that multiply',
      `a: &a [x, x, x, x, x, x, x, x, x]\n${'bcdefghi'.replaceAll(
        /./g,
        (c) =>
          `${c}: &${c} [${Array(9)
            .fill(`*${String.fromCharCode(c.charCodeAt(0) - 1)}`)
            .join(', ')}]\n`,
      )}`,
    ],
  ])('%s are refused', (_, text) => {
    expect(codesOf(text)).toEqual(['FX006']);
  });
});

describe('JSON', () => {
  test.each([
    ['a key twice', '{"a": 1, "b": {"a": 1, "a": 1}}', ['FX002']],
    ['a key twice, once escaped', '{"a": 1, "\\u0061": 1}', ['FX002']],
    ['an integer beyond 2^53', '{"a": 9007199254740993}', ['FX004']],
    ['an infinite number', '{"a": 1e999}', ['FX004']],
    ['too many levels', `{"a": ${'['.repeat(80)}${']'.repeat(80)}}`, ['FX005']],
    ['what looks like keys inside of text', '{"a": "\\"b\\": 1, \\"b\\": 2"}', []],
  ])('%s is judged as in YAML', (_, text, codes) => {
    expect(codesOf(text)).toEqual(codes);
    expect(codesOf(`${text} # x`)).toEqual(codes);
  });

  test('has places too', () => {
    const { source } = readSource('{\n  "a": [1,\n    {"b": 2}]}');
    expect(source?.locate(['a', 1, 'b'])).toEqual({ line: 3, column: 11 });
  });
});

describe('a part of a document', () => {
  test('has its own value and its place in the whole', () => {
    const { source } = readSource('tasks:\n  - { name: x }\n');
    const part = source && sourceAt(source, ['tasks', 0]);
    expect(part?.value).toEqual({ name: 'x' });
    expect(part?.locate(['name'])).toEqual({ line: 2, column: 13 });
    expect(source && sourceAt(source, ['other', 3]).value).toBeUndefined();
  });
});

describe('limits', () => {
  test.each([
    ['brackets', '['.repeat(100_000)],
    ['dashes', '- '.repeat(100_000)],
    ['question marks', '? '.repeat(100_000)],
    ['braces', '{"a":'.repeat(50_000)],
  ])('%s nested without end are refused at once', (_, text) => {
    expect(codesOf(text)).toEqual(['FX005']);
  });

  test('sixty levels are no problem', () => {
    expect(codesOf(`${'['.repeat(60)}${']'.repeat(60)}`)).toEqual([]);
  });

  test('a text of 1 MiB is read, a longer one is not', () => {
    const text = `a: "${'x'.repeat(MAX_TEXT - 5)}"`;
    expect(text).toHaveLength(MAX_TEXT);
    expect(codesOf(text)).toEqual([]);
    expect(codesOf(`${text} `)).toEqual(['FX003']);
  });
});

describe('what JSON does not have', () => {
  test.each(['a: !!binary aGk=\n', 'a: !env HOME\n', '[x]: 1\n', '? { a: 1 }\n: 2\n', '1.5: x\n'])('%j', (text) => {
    expect(codesOf(text)).toEqual(['FX008']);
  });
});

describe('places', () => {
  const { source } = readSource('a:\n  b: [x, { c: 1 }]\nd: &e\n  f: 2\ng: *e\n');

  test.each([
    [['a', 'b', 1, 'c'], 'value', { line: 2, column: 15 }],
    [['a', 'b', 1, 'c'], 'key', { line: 2, column: 12 }],
    [['a', 'b', 0], 'value', { line: 2, column: 7 }],
    [['a', 'b', 9], 'value', { line: 2, column: 6 }],
    [['a', 'zz', 'y'], 'value', { line: 2, column: 3 }],
    [['g', 'f'], 'value', { line: 4, column: 6 }],
    [[], 'value', { line: 1, column: 1 }],
  ] as const)('of %j (%s)', (path, of, position) => {
    expect(source?.locate(path, of)).toEqual(position);
  });
});
