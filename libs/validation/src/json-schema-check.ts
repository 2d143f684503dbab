import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import type { Json } from '@fixpoint/contracts/json';
import { schemaCompiler } from '@fixpoint/documents/schema-compiler';
import type { ValidateFunction } from 'ajv';
import { boundedCache } from './bounded-cache.ts';
import { TimeLimitPassed, withinLimit } from './time-limit.ts';

export type SchemaAnswer =
  | { readonly outcome: 'valid' }
  /** `place`: JSON pointer of the first value that does not fit; `detail` says what the schema wants, never the value. */
  | { readonly outcome: 'invalid'; readonly place: string; readonly detail: string }
  /** The schema itself cannot be used: not a schema, or it refers to another document. */
  | { readonly outcome: 'wrong_schema'; readonly detail: string }
  | { readonly outcome: 'timed_out'; readonly detail: string };

type Compiled = { readonly validate: ValidateFunction } | { readonly detail: string };

const compile = schemaCompiler();

const compiled = boundedCache<Compiled>(256, (text) => {
  try {
    return { validate: compile(JSON.parse(text)) };
  } catch (error) {
    return { detail: error instanceof Error ? error.message : 'not a schema' };
  }
});

/** Asks a JSON Schema (2020-12) about a value. Compiled once and kept; stopped after `limitMs`. */
export const askJsonSchema = (schema: Readonly<Record<string, Json>>, value: Json, limitMs: number): SchemaAnswer => {
  const checker = compiled(canonicalJson(schema));
  if ('detail' in checker) return { outcome: 'wrong_schema', detail: checker.detail };
  try {
    return withinLimit(limitMs, () => answer(checker.validate, value));
  } catch (error) {
    if (error instanceof TimeLimitPassed) return { outcome: 'timed_out', detail: error.message };
    throw error;
  }
};

const answer = (validate: ValidateFunction, value: Json): SchemaAnswer => {
  if (validate(value)) return { outcome: 'valid' };
  const first = validate.errors?.[0];
  return { outcome: 'invalid', place: first?.instancePath ?? '', detail: first?.message ?? 'does not fit the schema' };
};
