import { agentNames, modelNames, modelsSchema } from '@fixpoint/models/model-settings';
import { connectionSettings } from '@fixpoint/runtime/connect';
import { jsonText } from '@fixpoint/runtime/json-text';
import { reconcileSettings } from '@fixpoint/runtime/reconciling';
import { publicKeysSchema } from '@fixpoint/runtime/run-tokens';
import { portSetting, runtimeSettings } from '@fixpoint/runtime/runtime-settings';
import { type ConfigOf, parseConfig as parse, setting } from '@fixpoint/runtime/settings';
import { z } from 'zod';
import { DEFAULT_MOST_IN_FLIGHT, DEFAULT_MOST_QUEUED, DEFAULT_WINDOW } from './orchestrator.module.ts';
import { decisionKeysSchema } from './writing/sign-decision.ts';

/** Every key of the orchestrator's environment, with unit and default. */
export const orchestratorSettings = {
  ...runtimeSettings,
  ...connectionSettings,
  ...reconcileSettings,
  port: portSetting('FIXPOINT_ORCHESTRATOR_PORT', 4101),
  window: setting('FIXPOINT_WINDOW', {
    schema: z.coerce.number().int().min(1).max(1_000_000),
    unit: 'runs',
    fallback: String(DEFAULT_WINDOW),
    about: 'Runs that may be in flight at the same time, of all projects and in all replicas; more wait in the queue.',
  }),
  projectWindow: setting('FIXPOINT_PROJECT_WINDOW', {
    schema: z.coerce.number().int().min(1).max(1_000_000),
    unit: 'runs',
    fallback: String(DEFAULT_WINDOW),
    about: 'The same for each project alone.',
  }),
  mostQueued: setting('FIXPOINT_QUEUE_LIMIT', {
    schema: z.coerce.number().int().min(1).max(10_000_000),
    unit: 'runs',
    fallback: String(DEFAULT_MOST_QUEUED),
    about: 'Queued runs from which on submissions are answered 429.',
  }),
  decisionKeys: setting('FIXPOINT_DECISION_SIGNING_KEYS', {
    schema: jsonText.pipe(decisionKeysSchema),
    unit: 'JSON list of private JWKs (Ed25519) with kid',
    fallback: '[]',
    about: 'Keys of what humans decide; the first one signs. Without one nothing can be decided.',
    secret: true,
  }),
  tokenKeys: setting('FIXPOINT_TOKEN_PUBLIC_KEYS', {
    schema: publicKeysSchema,
    unit: 'JSON list of public JWKs (Ed25519) with kid',
    fallback: '[]',
    about: 'Keys of the validators; without them no run can submit work of its own.',
  }),
  models: setting('FIXPOINT_MODELS', {
    schema: jsonText
      .pipe(modelsSchema)
      .transform((models) => ({ known: modelNames(models), agents: agentNames(models) })),
    unit: 'JSON object of models by name',
    fallback: '{}',
    about:
      'The same as for the executor: names that tasks may use. The orchestrator asks none of them and needs no key.',
  }),
  mostInFlight: setting('FIXPOINT_SUBMISSIONS_IN_FLIGHT', {
    schema: z.coerce.number().int().min(1).max(1_000_000),
    unit: 'tasks',
    fallback: String(DEFAULT_MOST_IN_FLIGHT),
    about: 'Tasks that may be on their way into the store at the same time; more are answered 429.',
  }),
};

/** @throws {ConfigError} with everything that does not fit. */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): ConfigOf<typeof orchestratorSettings> =>
  parse(orchestratorSettings, env);
