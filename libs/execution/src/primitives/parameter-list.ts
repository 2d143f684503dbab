import { z } from 'zod';
import type { Primitive } from './primitive.ts';

/** One parameter of a primitive, for people. */
export interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  /** Null: none. */
  readonly fallback: unknown;
  readonly about: string;
}

const property = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  items: z.looseObject({ type: z.string().optional() }).optional(),
  default: z.json().optional(),
  description: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
});
const object = z.looseObject({
  properties: z.record(z.string(), property).default({}),
  required: z.array(z.string()).default([]),
});

/** JSON Schema of `with`. */
export const parametersSchema = ({ parameters }: Pick<Primitive, 'parameters'>): unknown =>
  z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' });

/** What `with` of a primitive takes. */
export const parameterList = (primitive: Pick<Primitive, 'parameters'>): Parameter[] => {
  const { properties, required } = object.parse(parametersSchema(primitive));
  return Object.entries(properties).map(([name, given]) => ({
    name,
    type: typeOf(given),
    required: required.includes(name),
    fallback: given.default ?? null,
    about: given.description ?? '',
  }));
};

const typeOf = ({ type, items, minimum, maximum }: z.output<typeof property>): string => {
  if (type === 'array') return `list of ${items?.type ?? 'any'}`;
  if (type === 'integer') return `integer, ${minimum} to ${maximum === Number.MAX_SAFE_INTEGER ? '2^53-1' : maximum}`;
  return typeof type === 'string' ? type : 'any JSON';
};
