import { agentNames, keyNames, modelNames, modelsSchema } from '@fixpoint/models/model-settings';
import { jsonText } from '@fixpoint/runtime/json-text';
import { parseConfig, secretsOf, setting } from '@fixpoint/runtime/settings';
import { z } from 'zod';

type Environment = Readonly<Record<string, string | undefined>>;

const SETTINGS = {
  models: setting('FIXPOINT_MODELS', {
    schema: jsonText.pipe(modelsSchema),
    unit: 'JSON object of models by name',
    fallback: '{}',
    about: 'Language models that tasks may name; keys stand in variables that it names.',
  }),
  council: setting('FIXPOINT_COUNCIL', {
    schema: z.string(),
    unit: 'name',
    fallback: 'structural',
    about: 'Who proposes how a stalled task is split.',
  }),
};

/** What an environment says of models, for services in one process. @throws {ConfigError} */
export const modelsIn = (env: Environment) => {
  const { models, council } = parseConfig(SETTINGS, env);
  const modelKeys = secretsOf(keyNames(models), env);
  return { models, modelKeys, council, names: { known: modelNames(models), agents: agentNames(models) } };
};

/** Of an environment, what models need and nothing else. @throws {ConfigError} when a key that is named is not there. */
export const modelEnvironment = (env: Environment): Record<string, string> => {
  const { modelKeys } = modelsIn(env);
  const said = ['FIXPOINT_MODELS', 'FIXPOINT_COUNCIL'].flatMap((name) => {
    const text = env[name] ?? '';
    return text === '' ? [] : [[name, text] as const];
  });
  return { ...Object.fromEntries(said), ...modelKeys };
};

/** Who asks models, or is asked about their names. */
const ASKING = ['orchestrator', 'executor', 'decomposer'];

/** The environments of processes, told of models: keys reach only those that ask with them. */
export const withModels = <Service extends string>(
  services: Readonly<Record<Service, Record<string, string>>>,
  modelEnv: Readonly<Record<string, string>>,
): Readonly<Record<Service, Record<string, string>>> => {
  const { FIXPOINT_MODELS: models, ...rest } = modelEnv;
  const names = models === undefined ? {} : { FIXPOINT_MODELS: models };
  const told = Object.entries<Record<string, string>>(services).map(([name, env]) => {
    if (!ASKING.includes(name)) return [name, env];
    return [name, { ...env, ...names, ...(name === 'orchestrator' ? {} : rest) }];
  });
  return Object.fromEntries(told) as Record<Service, Record<string, string>>;
};
