import { schemaCompiler } from './schema-compiler.ts';

const compile = schemaCompiler();

/** What is wrong with a JSON Schema (2020-12), in one line; null when it can be used. No reference leaves the schema. */
export const jsonSchemaProblem = (schema: Record<string, unknown>): string | null => {
  try {
    compile(schema);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
  }
};

/** Keywords that say something about a schema and nothing about a value. */
const ANNOTATIONS = new Set(
  [
    '$schema',
    '$id',
    '$anchor',
    '$comment',
    '$defs',
    'definitions',
    'title',
    'description',
    'default',
    'examples',
  ].concat(['deprecated', 'readOnly', 'writeOnly', 'contentEncoding', 'contentMediaType', 'contentSchema']),
);

/** Whether a schema accepts every value there is: it has nothing but annotations. */
export const acceptsEverything = (schema: Record<string, unknown>): boolean =>
  Object.keys(schema).every((keyword) => ANNOTATIONS.has(keyword));
