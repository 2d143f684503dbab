import { connectionSettings } from '@fixpoint/runtime/connect';
import { jsonText } from '@fixpoint/runtime/json-text';
import { portSetting, runtimeSettings, sandboxSettings, workSettings } from '@fixpoint/runtime/runtime-settings';
import { type ConfigOf, parseConfig as parse, setting } from '@fixpoint/runtime/settings';
import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';
import { signingKeysSchema } from './token-keys.ts';

const publicKeys = jsonText
  .pipe(z.array(z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), kid: z.string() })))
  .refine((keys) => keys.every((key) => !('d' in key)), 'holds a private key: the validator must not have one')
  .transform((keys): JSONWebKeySet => ({ keys: keys.map((key) => ({ ...key, alg: 'EdDSA' })) }));

const signingKeys = jsonText.pipe(signingKeysSchema);

/** What the validator itself needs, in a process of its own or beside the others. */
export const judgeSettings = {
  ...workSettings('FIXPOINT_VALIDATOR', 'validator'),
  ...sandboxSettings,
  signingKeys: setting('FIXPOINT_TOKEN_SIGNING_KEYS', {
    schema: signingKeys,
    unit: 'JSON list of private JWKs (Ed25519) with kid',
    fallback: null,
    about: 'Keys of run tokens; the first one signs, another one may be on its way in or out.',
    secret: true,
  }),
  decisionKeys: setting('FIXPOINT_DECISION_PUBLIC_KEYS', {
    schema: publicKeys,
    unit: 'JSON list of public JWKs (Ed25519) with kid',
    fallback: '[]',
    about: 'Keys of the orchestrators; a decision of a human that none of them signed lifts nothing.',
  }),
  concurrency: setting('FIXPOINT_VALIDATOR_CONCURRENCY', {
    schema: z.coerce.number().int().min(1).max(4096),
    unit: 'questions',
    fallback: '256',
    about: 'Gates and results in hand at a time in this process, each.',
  }),
};
export type JudgeConfig = ConfigOf<typeof judgeSettings>;

/** Every key of the validator's environment, with unit and default. */
export const validatorSettings = {
  ...runtimeSettings,
  ...connectionSettings,
  ...judgeSettings,
  port: portSetting('FIXPOINT_VALIDATOR_PORT', 4102),
};

/** @throws {ConfigError} with everything that does not fit. */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): ConfigOf<typeof validatorSettings> =>
  parse(validatorSettings, env);
