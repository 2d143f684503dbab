import { generateSigningKeys } from '@fixpoint/validator/token-keys';
import { newEnvironment } from '../src/new-environment.ts';

/** The same in every spec: logins belong to the server, which specs share. */
const secrets = Array.from({ length: 16 }, (_, at) => `secret-of-the-specs-${at}`);

export const testEnvironment = (): Readonly<Record<string, string>> => {
  const left = [...secrets];
  const keys = { signingKeys: generateSigningKeys('test'), decisionKeys: generateSigningKeys('decisions') };
  return newEnvironment({ secret: () => left.shift() ?? '', ...keys });
};
