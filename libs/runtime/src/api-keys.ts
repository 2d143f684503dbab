import { createHash, timingSafeEqual } from 'node:crypto';
import type { RunTokenClaims } from '@fixpoint/contracts/run-token';
import { z } from 'zod';

/** What a key may do. */
export const ROLES = ['worker', 'reader', 'writer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** A configured key. Only the hash of the secret is known. */
export interface ApiKey {
  /** Becomes the actor of every event that its holder causes. */
  readonly name: string;
  readonly role: Role;
  /** sha256 of the secret, lower-case hex. */
  readonly sha256: string;
}

/** Who asks. */
export interface Principal {
  readonly name: string;
  readonly role: Role;
  /** Of the run that asks; left out: no run does. */
  readonly run?: RunTokenClaims;
}

/** Everybody, when no keys are configured: only this machine can ask then. */
export const LOCAL: Principal = { name: 'local', role: 'admin' };

const apiKeySchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9._@-]{0,62}$/, 'a name is 1 to 63 letters, digits, dots, @, dashes or underscores')
    .refine((name) => name !== 'local' && name !== 'system', 'the names local and system are taken'),
  role: z.enum(ROLES),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected the sha256 of the secret, 64 lower-case hex digits'),
});

const unique = (keys: readonly ApiKey[]): boolean =>
  new Set(keys.map((key) => key.name)).size === keys.length &&
  new Set(keys.map((key) => key.sha256)).size === keys.length;

const apiKeyList = z.array(apiKeySchema).refine(unique, 'two keys have the same name or the same secret');

const splitList = (text: string): unknown =>
  text.split(',').map((entry) => {
    const [name, role, sha256] = entry.trim().split(':');
    return { name, role, sha256 };
  });

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Reads `FIXPOINT_API_KEYS`: a JSON list of `{name, role, sha256}`, or `name:role:sha256` separated by commas. */
export const apiKeysSchema = z
  .string()
  .transform((text): unknown => {
    if (text.trim() === '') return [];
    return text.trimStart().startsWith('[') ? parseJson(text) : splitList(text);
  })
  .pipe(apiKeyList);

/** Null when no key has this secret. Compares against every key in constant time. */
export const principalOf = (keys: readonly ApiKey[], secret: string): Principal | null => {
  const presented = createHash('sha256').update(secret).digest();
  const matching = keys.filter((key) => timingSafeEqual(Buffer.from(key.sha256, 'hex'), presented));
  const [found] = matching;
  return found === undefined ? null : { name: found.name, role: found.role };
};

/** A worker does the jobs of runs and sees nothing else; reading is no right to work. */
const INCLUDED: Readonly<Record<Role, readonly Role[]>> = {
  worker: ['worker'],
  reader: ['reader'],
  writer: ['worker', 'reader', 'writer'],
  admin: ROLES,
};

/** Whether a role includes another one. */
export const includesRole = (role: Role, needed: Role): boolean => INCLUDED[role].includes(needed);
