import { z } from 'zod';

/** One operation of an HTTP API. Schemas are named as in the {@link Api}. */
export interface Operation {
  readonly method: 'get' | 'post';
  /** With `{name}` for what varies. */
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly headers?: readonly HeaderParameter[];
  /** Schema by media type. */
  readonly body?: Readonly<Record<string, string>>;
  /** `schema`: of every status named. */
  readonly answers: readonly Answer[];
  /** Nobody has to say who they are. */
  readonly isPublic?: boolean;
}

export interface HeaderParameter {
  readonly name: string;
  readonly about: string;
  readonly isRequired?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly schema: string;
}

type Schemas = Readonly<Record<string, z.ZodType>>;

export interface Api {
  readonly title: string;
  readonly operations: readonly Operation[];
  /** What is sent: fields with a default may be left out. */
  readonly asked: Schemas;
  /** What is answered. `Error` is among them: the answer to everything that went wrong. */
  readonly answered: Schemas;
}

const reference = (id: string): string => `#/components/schemas/${id}`;

/** An API as an OpenAPI 3.1 document, made from the schemas that requests are checked with and answers are typed by. */
export const openApi = ({ title, operations, asked, answered }: Api): Record<string, unknown> => ({
  openapi: '3.1.0',
  info: { title, version: '1', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
  paths: pathsOf(operations),
  components: {
    schemas: { ...schemasOf(asked, 'input'), ...schemasOf(answered, 'output') },
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  },
  security: [{ key: [] }],
});

const pathsOf = (operations: readonly Operation[]): Record<string, unknown> => {
  const paths = Map.groupBy(operations, ({ path }) => path);
  return Object.fromEntries(
    [...paths].map(([path, of]) => [path, Object.fromEntries(of.map((each) => [each.method, described(each)]))]),
  );
};

const described = ({ path, summary, query, headers = [], body, answers, isPublic }: Operation) => ({
  summary,
  parameters: [...pathParameters(path), ...queryParameters(query), ...headers.map(headerParameter)],
  ...(body && { requestBody: { required: true, content: contentOf(Object.entries(body)) } }),
  responses: {
    ...Object.fromEntries(answers.map((each) => [each.status, answerOf(summary, each)])),
    default: answerOf('An error', { type: 'application/json', schema: 'Error' }),
  },
  ...(isPublic === true && { security: [] }),
});

const answerOf = (description: string, { type, schema }: Omit<Answer, 'status'>) => ({
  description,
  content: contentOf([[type, schema]]),
});

const contentOf = (schemas: readonly (readonly [string, string])[]) =>
  Object.fromEntries(schemas.map(([type, schema]) => [type, { schema: { $ref: reference(schema) } }]));

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string' } },
  }));

const headerParameter = ({ name, about, isRequired = false }: HeaderParameter) => ({
  ...{ name, in: 'header', required: isRequired, description: about, schema: { type: 'string' } },
});

const queryParameters = (query: z.ZodObject | undefined) => {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => ({
    ...{ name, in: 'query', required: required.includes(name), schema },
  }));
};

/** What schemas share stands beside them, under a name of this direction; as zod writes it, no reader would find it. */
const schemasOf = (schemas: Schemas, io: 'input' | 'output'): Record<string, unknown> => {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { __shared: shared, ...made } = z.toJSONSchema(registry, {
    uri: reference,
    io,
    unrepresentable: 'any',
  }).schemas;
  const prefix = io === 'input' ? 'Asked_' : 'Answered_';
  const beside = Object.entries(shared?.$defs ?? {}).map(([name, schema]) => [`${prefix}${name}`, schema]);
  const all = { ...Object.fromEntries(beside), ...made };
  const text = JSON.stringify(all).replaceAll(reference('__shared#/$defs/'), reference(prefix));
  return JSON.parse(text, withoutOwnId);
};

/** A schema inside of a document is found by its place. */
const withoutOwnId = (key: string, value: unknown): unknown => {
  const isId = key === '$id' || key === '$schema';
  return isId && typeof value === 'string' && (value.startsWith('#/') || value.startsWith('https://json-schema.org/'))
    ? undefined
    : value;
};
