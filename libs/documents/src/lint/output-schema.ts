import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { Json } from '@fixpoint/contracts/json';

/** What is known of a value from the JSON Schema of an output; `unknown` wherever the schema does not say it plainly. */
export type KnownValue =
  | { readonly is: 'unknown' }
  /** The schema lets no such value be. */
  | { readonly is: 'never' }
  | { readonly is: 'typed'; readonly type: string; readonly optional: boolean };

type Schema = { readonly [keyword: string]: Json };

const isSchema = (value: Json | undefined): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema that the output of a node has to fit; null when it has none. */
export const outputSchemaOf = ({ postcondition }: NodeSpec): Schema | null =>
  postcondition?.all.flatMap((check) => ('json_schema' in check ? [check.json_schema] : [])).at(-1) ?? null;

const UNKNOWN: KnownValue = { is: 'unknown' };

/** What a schema says of the value at a path. Only `type`, `properties`, `required`, `items` are looked at. */
export const knownAt = (schema: Schema, path: readonly string[]): KnownValue => {
  let inner: Schema = schema;
  let optional = false;
  for (const step of path) {
    const next = below(inner, step);
    if (next === 'never') return { is: 'never' };
    if (next === 'unknown') return UNKNOWN;
    optional ||= next.optional;
    inner = next.schema;
  }
  return typeof inner.type === 'string' ? { is: 'typed', type: inner.type, optional } : UNKNOWN;
};

const below = (
  schema: Schema,
  step: string,
): { readonly schema: Schema; readonly optional: boolean } | 'never' | 'unknown' => {
  const { type, items } = schema;
  if (type === 'object') return property(schema, step);
  if (type === 'array') return isSchema(items) && /^\d+$/.test(step) ? { schema: items, optional: true } : 'unknown';
  return typeof type === 'string' ? 'never' : 'unknown';
};

const property = ({ properties, required, additionalProperties }: Schema, name: string): ReturnType<typeof below> => {
  const schema = isSchema(properties) ? properties[name] : undefined;
  if (schema === undefined) return additionalProperties === false ? 'never' : 'unknown';
  const isRequired = Array.isArray(required) && required.includes(name);
  return isSchema(schema) ? { schema, optional: !isRequired } : 'unknown';
};
