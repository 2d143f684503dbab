import { z } from 'zod';
import { type ModelAddress, parseModelAddress } from './model-address.ts';

/** Micros of the currency of the budgets for a million tokens: 3 a million is 3000000. */
const microsPerMillion = z.int().nonnegative();

const priceSchema = z.strictObject({
  input: microsPerMillion,
  output: microsPerMillion,
  /** Of input that the provider had kept; without it, that of input. */
  cached_input: microsPerMillion.optional(),
});
export type Price = z.infer<typeof priceSchema>;

const FREE: Price = { input: 0, output: 0 };

const addressSchema = z.string().transform((text, context): ModelAddress => {
  const address = parseModelAddress(text);
  if (typeof address !== 'string') return address;
  context.addIssue(`${text}: ${address}`);
  return z.NEVER;
});

const modelSchema = z
  .strictObject({
    model: addressSchema,
    /** Name of the variable of the environment that holds the key. */
    key: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]*$/, 'is no name of a variable')
      .nullable()
      .default(null),
    price: priceSchema.optional(),
    /** Longest wait for one answer. */
    timeout_ms: z.int().min(100).max(3_600_000).default(120_000),
    /** Most that one answer may hold. */
    max_output_tokens: z.int().min(256).max(1_000_000).default(4096),
  })
  .superRefine(({ model, price }, context) => {
    const isSold = model.kind === 'anthropic' || model.kind === 'openai';
    if (isSold && price === undefined) context.addIssue('needs a price: without one no budget would hold');
  })
  .transform(({ price = FREE, ...model }) => ({ ...model, price }));
export type ModelSettings = z.infer<typeof modelSchema>;

const nameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{0,62}$/, 'lower-case letters, digits, dots and dashes, at most 63');

/** Models by the names that tasks and protocols use. `playbook` needs no entry; `default` is the playbook without one. */
export const modelsSchema = z
  .record(nameSchema, modelSchema)
  .refine((models) => !Object.hasOwn(models, 'playbook'), 'playbook is the name of the playbook');
export type ModelsSettings = z.infer<typeof modelsSchema>;

/** All names that `recovery.model` may say here. */
export const modelNames = (models: ModelsSettings): string[] => [
  ...new Set(['default', 'playbook', ...Object.keys(models)]),
];

/** Those that can work as an agent; the playbook can not. */
export const agentNames = (models: ModelsSettings): string[] =>
  Object.entries(models).flatMap(([name, { model }]) => (model.kind === 'playbook' ? [] : [name]));

/** Variables of the environment that hold their keys. */
export const keyNames = (models: ModelsSettings): string[] => [
  ...new Set(Object.values(models).flatMap(({ key }) => (key === null ? [] : [key]))),
];
