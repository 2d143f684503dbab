import { describe, expect, test } from '@jest/globals';
import { schemaCompiler } from './schema-compiler.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/';

const outcome = (compile: ReturnType<typeof schemaCompiler>, schema: Record<string, unknown>): string => {
  try {
    compile(schema);
    return 'compiled';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('compiling the schema of a stranger', () => {
  test.each<[string, Record<string, unknown>]>([
    ['takes the name of the dialect', { $id: `${DIALECT}schema`, not: {} }],
    ['takes it with blanks and a hash', { $id: ` ${DIALECT}schema# `, not: {} }],
    ['takes the name of a vocabulary', { $id: `${DIALECT}meta/core`, not: {} }],
    ['takes the short name of the dialect', { $id: 'http://json-schema.org/schema', not: {} }],
    ['gives such a name to a part', { $defs: { part: { $id: `${DIALECT}schema`, not: {} } } }],
    ['has a number for a name', { $id: 5 }],
    ['has no name but an empty one', { $id: '', type: 'string' }],
    ['refers to what is not there', { $id: 'https://example.org/a', $ref: 'https://example.org/b' }],
    ['is none', { type: 'strin' }],
  ])('leaves the next one alone when it %s', (_name, schema) => {
    const compile = schemaCompiler();
    const first = outcome(compile, schema);
    const validate = compile({ type: 'string', minLength: 1 });
    expect([validate('a'), validate(''), validate(1)]).toEqual([true, false, false]);
    expect(outcome(compile, { type: 'strin' })).toMatch(/^schema is invalid/);
    expect(outcome(compile, structuredClone(schema))).toBe(first);
  });

  test('means what it says by its names, whatever others mean by them', () => {
    const compile = schemaCompiler();
    const named = (type: string, place: string) => ({
      $id: 'https://example.org/all',
      $defs: { [place]: { $id: 'https://example.org/part', $anchor: 'here', type } },
      $ref: 'https://example.org/part#here',
    });
    const [text, number] = [compile(named('string', 'a')), compile(named('number', 'b'))];
    expect([text('x'), text(1), number('x'), number(1)]).toEqual([true, false, false, true]);
    expect(outcome(compile, { $ref: 'https://example.org/part' })).toMatch(/can't resolve/);
  });
});
