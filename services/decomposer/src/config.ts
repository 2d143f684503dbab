import { modelsSchema } from '@fixpoint/models/model-settings';
import { connectionSettings } from '@fixpoint/runtime/connect';
import { jsonText } from '@fixpoint/runtime/json-text';
import { portSetting, runtimeSettings, workSettings } from '@fixpoint/runtime/runtime-settings';
import { type ConfigOf, parseConfig as parse, secretsOf, setting } from '@fixpoint/runtime/settings';
import { z } from 'zod';
import { councilOf } from './configured-council.ts';

/** What the decomposer itself needs, in a process of its own or beside the others. */
export const councilSettings = {
  ...workSettings('FIXPOINT_DECOMPOSER', 'decomposer'),
  council: setting('FIXPOINT_COUNCIL', {
    schema: z.string().regex(/^[a-z0-9][a-z0-9.-]{0,62}$/, 'is structural, none, or the name of a model'),
    unit: 'name',
    fallback: 'structural',
    about:
      'Who proposes how a stalled task is split: structural needs no model; none never splits anything; else a model of FIXPOINT_MODELS.',
  }),
  models: setting('FIXPOINT_MODELS', {
    schema: jsonText.pipe(modelsSchema),
    unit: 'JSON object of models by name',
    fallback: '{}',
    about: 'Language models that the council may be one of; keys stand in variables that it names.',
  }),
};
export type CouncilConfig = ConfigOf<typeof councilSettings>;

/** Every key of the decomposer's environment, with unit and default. Its port serves health only. */
export const decomposerSettings = {
  ...runtimeSettings,
  ...connectionSettings,
  ...councilSettings,
  port: portSetting('FIXPOINT_DECOMPOSER_PORT', 4104),
};

/** Only what the council needs is asked for: keys of other models are the executor's. @throws {ConfigError} */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>) => {
  const config = parse(decomposerSettings, env);
  const key = config.models[config.council]?.key ?? null;
  const modelKeys = secretsOf(key === null ? [] : [key], env);
  councilOf({ ...config, modelKeys });
  return { ...config, modelKeys };
};
