import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { JSONWebKeySet, JWK } from 'jose';
import { z } from 'zod';

const keySchema = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string().min(1),
  x: z.string().min(1),
});

/** Private keys of the gate, as JWK; the first one signs, the others are being rotated in or out. */
export const signingKeysSchema = z
  .array(keySchema.extend({ d: z.string().min(1) }))
  .min(1)
  .refine((keys) => new Set(keys.map(({ kid }) => kid)).size === keys.length, 'two keys have the same kid');
export type SigningKeys = z.infer<typeof signingKeysSchema>;

/** A fresh key pair for a local installation. @param kid names it in tokens. */
export const generateSigningKeys = (kid: string): SigningKeys => {
  const { privateKey } = generateKeyPairSync('ed25519');
  return signingKeysSchema.parse([{ ...privateKey.export({ format: 'jwk' }), kid }]);
};

/** What executors are given: they can check tokens and not make them. */
export const publicKeysOf = (keys: SigningKeys): JSONWebKeySet => ({
  keys: keys.map(({ kty, crv, kid, x }): JWK => ({ kty, crv, kid, x, alg: 'EdDSA', use: 'sig' })),
});

/**
 * The key that signs.
 * @throws when there is none, or it is no private key of Ed25519.
 */
export const signingKey = ([first]: SigningKeys): { readonly kid: string; readonly key: KeyObject } => {
  if (first === undefined) throw new Error('no signing key');
  const { kty, crv, kid, x, d } = first;
  return { kid, key: createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' }) };
};
