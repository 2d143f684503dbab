import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** @throws what is wrong with the schema. */
export type CompileSchema = (schema: Record<string, unknown>) => ValidateFunction;

/**
 * Compiles JSON Schemas (2020-12) of strangers, each as if it were the first. The names that one gives to itself and its
 * parts mean nothing to the next, and none takes the place of the dialect's own, which all others need. No reference
 * leaves a schema; formats are annotations, as is the default, and unknown keywords are allowed.
 */
export const schemaCompiler = (): CompileSchema => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  const own = { schemas: { ...ajv.schemas }, refs: { ...ajv.refs } };
  return (schema) => {
    if ('$id' in schema && typeof schema.$id !== 'string') throw new Error('$id must be a string');
    try {
      return ajv.compile(schema);
    } finally {
      ajv.removeSchema(schema);
      reset(ajv.schemas, own.schemas);
      reset(ajv.refs, own.refs);
    }
  };
};

const reset = <Known>(names: Record<string, Known>, own: Readonly<Record<string, Known>>): void => {
  for (const name of Object.keys(names)) if (!Object.hasOwn(own, name)) delete names[name];
  Object.assign(names, own);
};
