import { keyNames, modelsSchema } from '@fixpoint/models/model-settings';
import { connectionSettings } from '@fixpoint/runtime/connect';
import { jsonText } from '@fixpoint/runtime/json-text';
import { publicKeysSchema } from '@fixpoint/runtime/run-tokens';
import { portSetting, runtimeSettings, sandboxSettings, workSettings } from '@fixpoint/runtime/runtime-settings';
import { type ConfigOf, parseConfig as parse, secretsOf, setting } from '@fixpoint/runtime/settings';
import { z } from 'zod';

const publicKeys = publicKeysSchema.refine(({ keys }) => keys.length > 0, 'names no key');

/** What the executor itself needs, in a process of its own or beside the others. */
export const runSettings = {
  ...workSettings('FIXPOINT_EXECUTOR', 'executor'),
  ...sandboxSettings,
  tokenKeys: setting('FIXPOINT_TOKEN_PUBLIC_KEYS', {
    schema: publicKeys,
    unit: 'JSON list of public JWKs (Ed25519) with kid',
    fallback: null,
    about: 'Keys of the validators, two while one is rotated out.',
  }),
  concurrency: setting('FIXPOINT_EXECUTOR_CONCURRENCY', {
    schema: z.coerce.number().int().min(1).max(1024),
    unit: 'runs',
    fallback: '64',
    about: 'Runs in hand at a time in this process; more than work at once wait here instead of elsewhere.',
  }),
  apiUrl: setting('FIXPOINT_API_URL', {
    schema: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).transform((url) => (url === '' ? null : url)),
    unit: 'URL',
    fallback: '',
    about: 'The write API as commands of runs reach it; they find it in FIXPOINT_URL.',
  }),
  playbooks: setting('FIXPOINT_PLAYBOOKS', {
    schema: z.string().transform((text) => text.split(':').filter((file) => file !== '')),
    unit: 'paths separated by colons',
    fallback: '',
    about: 'Playbook files read beside the shipped one.',
  }),
  models: setting('FIXPOINT_MODELS', {
    schema: jsonText.pipe(modelsSchema),
    unit: 'JSON object of models by name',
    fallback: '{}',
    about: 'Language models that tasks may name; keys stand in variables that it names.',
  }),
};
export type RunConfig = ConfigOf<typeof runSettings>;

/** Every key of the executor's environment, with unit and default. */
export const executorSettings = {
  ...runtimeSettings,
  ...connectionSettings,
  ...runSettings,
  port: portSetting('FIXPOINT_EXECUTOR_PORT', 4103),
};

/** @throws {ConfigError} with everything that does not fit. */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>) => {
  const config = parse(executorSettings, env);
  return { ...config, modelKeys: secretsOf(keyNames(config.models), env) };
};
