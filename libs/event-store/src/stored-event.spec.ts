import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import type { NewEvent } from '@fixpoint/contracts/envelope';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EVENT_BYTES_LIMIT, storedAppend } from './stored-event.ts';

const nul = String.fromCharCode(0);
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) });
const storable = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    anyText,
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(anyText, tie('value'), { maxKeys: 4 }),
  ),
})).value;

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
};

const event = (change: Partial<NewEvent> = {}): NewEvent => ({
  id: '019b7ca9-8c8e-89f9-8bf0-8dcb7bd30bf8',
  type: 'task_submitted',
  schema_version: 1,
  data: {},
  metadata: { causation_id: 'c', correlation_id: 'r', producer: 'p', actor: 'a' },
  occurred_at: '2026-01-02T03:04:05.006Z',
  ...change,
});

const stored = (change: Partial<NewEvent>, root = 'r') =>
  storedAppend({ stream: 'lineage-r', root, expectedVersion: 0, events: [event(change)] });

const codeOf = (value: unknown): string => {
  const outcome = stored({ data: value });
  return 'outcome' in outcome ? `${outcome.code}: ${outcome.detail.split('data: ')[1]}` : 'stored';
};

describe('stored bytes', () => {
  test('come back as the value they were made of', () => {
    fc.assert(
      fc.property(storable, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('do not depend on the order in which keys were set', () => {
    fc.assert(
      fc.property(storable, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test('are the same again after a round trip', () => {
    fc.assert(
      fc.property(storable, (value) => {
        const bytes = canonicalJson(value);
        expect(canonicalJson(JSON.parse(bytes))).toBe(bytes);
      }),
    );
  });

  test('survive UTF-8, lone surrogates included', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(JSON.parse(Buffer.from(canonicalJson(text), 'utf8').toString('utf8'))).toBe(text);
      }),
    );
  });

  test.each([
    ['a NUL', nul, '"\\u0000"'],
    ['a lone high surrogate', '\ud800', '"\\ud800"'],
    ['a lone low surrogate between letters', 'a\udc00b', '"a\\udc00b"'],
    ['a pair', '😀', '"😀"'],
    ['control characters', '\b\t\n\f\r\u001f', '"\\b\\t\\n\\f\\r\\u001f"'],
    ['a quote and a backslash', '"\\', '"\\"\\\\"'],
    ['a negative zero', -0, '0'],
    ['an exponent', 1e-7, '1e-7'],
    ['the greatest integer', 9007199254740991, '9007199254740991'],
    ['a fraction', 333333333.3333333, '333333333.3333333'],
  ])('write %s as RFC 8785 or as the escape it has none for', (_name, value, bytes) => {
    expect(canonicalJson(value)).toBe(bytes);
  });

  // Source: the sorting example of RFC 8785, section 3.2.3.
  test('sort keys by UTF-16 code units, not by code points', () => {
    expect(canonicalJson({ '\ufb33': 1, '😀': 2, ö: 3, '1': 4, '\r': 5 })).toBe(
      '{"\\r":5,"1":4,"ö":3,"😀":2,"\ufb33":1}',
    );
  });

  test('leave out members without a value', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  test.each([
    ['an integer beyond 2^53', { a: [0, 9007199254740992] }, 'not_storable: integer_unsafe at /a/1'],
    ['a negative integer beyond 2^53', { n: -9007199254740994 }, 'not_storable: integer_unsafe at /n'],
    ['an infinite number', { a: { b: Number.POSITIVE_INFINITY } }, 'not_storable: number_not_finite at /a/b'],
    ['not a number', { n: Number.NaN }, 'not_storable: number_not_finite at /n'],
    ['a date', { at: new Date(0) }, 'not_storable: not_json at /at'],
    ['a function', { f: () => 1 }, 'not_storable: not_json at /f'],
  ])('P17: refuse %s with a code and its place', (_name, value, code) => {
    expect(codeOf(value)).toBe(code);
  });

  test('refuse a document nested beyond all reason instead of overflowing the stack', () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(stored({ data: deep })).toMatchObject({ outcome: 'rejected', code: 'not_storable' });
  });
});

describe('an event to be stored', () => {
  const metadataBytes = Buffer.byteLength(canonicalJson(event().metadata));

  test('P24 may be as large as the limit and not one byte larger', () => {
    const text = (bytes: number) => 'x'.repeat(bytes - metadataBytes - '{"t":""}'.length);
    expect(stored({ data: { t: text(EVENT_BYTES_LIMIT) } })).toMatchObject({ bytes: EVENT_BYTES_LIMIT });
    expect(stored({ data: { t: text(EVENT_BYTES_LIMIT + 1) } })).toMatchObject({
      outcome: 'rejected',
      code: 'event_too_large',
    });
  });

  test('is measured in bytes, not in characters', () => {
    expect(stored({ data: { t: 'ü'.repeat(EVENT_BYTES_LIMIT / 2) } })).toMatchObject({ code: 'event_too_large' });
  });

  test.each([
    ['an id that is no uuid', { id: 'x' }],
    ['a time without milliseconds', { occurred_at: '2026-01-02T03:04:05Z' }],
    ['a time in another zone', { occurred_at: '2026-01-02T03:04:05.006+01:00' }],
    ['a type with a NUL', { type: 'task\0' }],
  ])('is refused with %s', (_name, change) => {
    expect(stored(change)).toMatchObject({ outcome: 'rejected', code: 'not_storable' });
  });

  test('is refused under a root that a text column would change', () => {
    expect(stored({}, '\ud800')).toMatchObject({ outcome: 'rejected', code: 'not_storable' });
  });
});
