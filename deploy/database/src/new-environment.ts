import { createHash } from 'node:crypto';
import { publicKeysOf, type SigningKeys } from '@fixpoint/validator/token-keys';
import { SERVICES } from './service-logins.ts';

export interface Secrets {
  /** A new secret each time: letters and digits, more than anybody guesses. */
  readonly secret: () => string;
  readonly signingKeys: SigningKeys;
  /** Of what humans decide. */
  readonly decisionKeys: SigningKeys;
}

/**
 * What an installation of `docker-compose.yml` needs to know, all of it new.
 * @returns variables by name. `FIXPOINT_API_KEY` is for people and the command line; services are told its hash only.
 */
export const newEnvironment = ({ secret, signingKeys, decisionKeys }: Secrets): Readonly<Record<string, string>> => {
  const apiKey = secret();
  return {
    FIXPOINT_POSTGRES_PASSWORD: secret(),
    FIXPOINT_NATS_PASSWORD: secret(),
    ...Object.fromEntries(SERVICES.map((service) => [`FIXPOINT_${service.toUpperCase()}_PASSWORD`, secret()])),
    FIXPOINT_TOKEN_SIGNING_KEYS: JSON.stringify(signingKeys),
    FIXPOINT_TOKEN_PUBLIC_KEYS: JSON.stringify(publicKeysOf(signingKeys).keys),
    FIXPOINT_DECISION_SIGNING_KEYS: JSON.stringify(decisionKeys),
    FIXPOINT_DECISION_PUBLIC_KEYS: JSON.stringify(publicKeysOf(decisionKeys).keys),
    FIXPOINT_API_KEYS: `first:admin:${createHash('sha256').update(apiKey).digest('hex')}`,
    FIXPOINT_API_KEY: apiKey,
  };
};

/** The same as an `.env` file: nothing in quotes is read as a variable. */
export const environmentFile = (environment: Readonly<Record<string, string>>): string =>
  ['# Secrets of one installation. Keep them from everybody else, and keep a copy.', ...lines(environment), ''].join(
    '\n',
  );

const lines = (environment: Readonly<Record<string, string>>): string[] =>
  Object.entries(environment).map(([name, value]) => `${name}='${value}'`);
