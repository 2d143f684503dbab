import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { templateParts, textOfValue, valueAt } from './template.ts';

const ref = (inner: string): string => `$\{{ ${inner} }}`;

describe('a text with references', () => {
  test.each([
    [ref('inputs.name'), [{ reference: { of: 'input', path: ['name'] } }]],
    ['${{inputs.a.b-c.0}}', [{ reference: { of: 'input', path: ['a', 'b-c', '0'] } }]],
    [ref('nodes.scan.output'), [{ reference: { of: 'output', node: 'scan', path: [] } }]],
    [ref('nodes.a-b.output.x.1'), [{ reference: { of: 'output', node: 'a-b', path: ['x', '1'] } }]],
    [ref('nodes.scan.outcome'), [{ reference: { of: 'outcome', node: 'scan' } }]],
    [`a ${ref('inputs.x')} b`, ['a ', { reference: { of: 'input', path: ['x'] } }, ' b']],
  ])('%s is read in its parts', (text, parts) => {
    expect(templateParts(text)).toMatchObject(parts);
  });

  test.each([
    ['"none"', 'none'],
    ['"}} \\" ${{"', '}} " ${{'],
    ['-1.5', -1.5],
    ['true', true],
    ['null', null],
    ['[]', []],
    ['{}', {}],
  ])('may have the default %s', (written, fallback) => {
    expect(templateParts(ref(`inputs.x ?? ${written}`))).toMatchObject([{ fallback }]);
  });

  test('has no default where none is written', () => {
    expect(templateParts(ref('inputs.x'))).toEqual([
      { text: 'inputs.x', reference: { of: 'input', path: ['x'] }, fallback: undefined },
    ]);
  });

  test.each([
    ref('env.HOME'),
    ref('inputs'),
    ref('nodes.scan'),
    ref('nodes.scan.stdout'),
    ref('nodes.scan.outcome.x'),
    ref('inputs.x || 1'),
    ref('inputs.x ?? name'),
    ref('inputs.x ?? "\\q"'),
    ref('inputs.x ?? 007'),
    ref('inputs.x ?? 9007199254740993'),
    '${{ inputs.x }',
    '${{',
  ])('that can not be read is said to be so: %s', (text) => {
    expect(templateParts(text)).toEqual([{ unreadable: text }]);
  });

  test('keeps the braces that have a second dollar sign in front', () => {
    expect(templateParts(`a $${ref('inputs.x')}`).join('')).toBe(`a ${ref('inputs.x')}`);
  });

  test('without braces is one part, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!text.includes('${{') && text !== '');
        expect(templateParts(text)).toEqual([text]);
      }),
    );
  });

  test('never loses or makes up a character', () => {
    const piece = fc.constantFrom('$', '{', '}', '${{', '}}', ' ', 'inputs.x', '"', '?? ', 'é');
    const written = (part: ReturnType<typeof templateParts>[number]): string => {
      if (typeof part === 'string') return part === '${{' ? '$${{' : part;
      return 'unreadable' in part ? part.unreadable : part.text;
    };
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const parts = templateParts(text);
        fc.pre(parts.every((part) => typeof part === 'string' || 'unreadable' in part));
        expect(parts.map(written).join('')).toBe(text);
      }),
    );
  });
});

describe('a value at a path', () => {
  const value = { list: ['a', { b: null }], '': 1 };

  test.each([
    [[], value],
    [['list', '1', 'b'], null],
    [['list', '0'], 'a'],
    [['list', '2'], undefined],
    [['list', 'length'], undefined],
    [['list', '0', 'x'], undefined],
    [['__proto__'], undefined],
    [['constructor', 'name'], undefined],
  ])('%j', (path, expected) => {
    expect(valueAt(value, path)).toEqual(expected);
  });

  test.each([
    ['text', 'text'],
    [null, ''],
    [1.5, '1.5'],
    [false, 'false'],
    [{ a: ['b'] }, '{"a":["b"]}'],
  ])('%j stands in a text as %j', (json, text) => {
    expect(textOfValue(json)).toBe(text);
  });
});
