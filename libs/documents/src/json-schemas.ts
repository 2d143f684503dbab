import { z } from 'zod';
import { keyDescriptions } from './key-descriptions.ts';
import { protocolDocumentSchema } from './protocol-document.ts';
import { taskDocumentSchema } from './task-document.ts';

const publish = (schema: z.ZodType, { id, title }: { id: string; title: string }): Record<string, unknown> => ({
  $id: id,
  title,
  ...described(z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' })),
});

/** The schema, with what each key is for; editors show it. */
const described = (schema: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === 'properties' ? describedKeys(value) : below(value)]),
  );

const describedKeys = (properties: Readonly<Record<string, object>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => {
      const description = keyDescriptions[key];
      return [key, { ...described(schema), ...(description === undefined ? {} : { description }) }];
    }),
  );

const below = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(below);
  return typeof value === 'object' && value !== null ? described(value) : value;
};

/**
 * The JSON Schemas (2020-12) of the documents, by file name, as editors use them. They say the shape; what only the lint
 * knows (known names, vacuous checks, recovery) is not in them. Checked in under `libs/contracts/schemas`.
 */
export const documentJsonSchemas = (): Record<string, Record<string, unknown>> => ({
  'task.v1.json': publish(taskDocumentSchema, { id: 'urn:fixpoint:task:v1', title: 'Fixpoint task' }),
  'protocol.v1.json': publish(protocolDocumentSchema, { id: 'urn:fixpoint:protocol:v1', title: 'Fixpoint protocol' }),
});
