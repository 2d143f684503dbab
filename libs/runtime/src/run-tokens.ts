import { rootOf } from '@fixpoint/contracts/merkle';
import {
  type RunTokenClaims,
  type RunTokenParts,
  rootPayload,
  runTokenClaimsSchema,
  runTokenParts,
} from '@fixpoint/contracts/run-token';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { jsonText } from './json-text.ts';

/** Public keys of the validators, as JWKs. */
export type TokenKeys = JSONWebKeySet;

/** Signatures that are remembered as good; each covers the tokens that were minted together. */
const SIGNATURES = 1_000;

/** A JSON list of public JWKs; a list that may be empty is for who can do without. */
export const publicKeysSchema = jsonText
  .pipe(z.array(z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), kid: z.string() })))
  .refine((keys) => keys.every((key) => !('d' in key)), 'holds a private key: only the validator may have one')
  .refine((keys) => new Set(keys.map(({ kid }) => kid)).size === keys.length, 'two keys have the same kid')
  .transform((keys): JSONWebKeySet => ({ keys: keys.map((key) => ({ ...key, alg: 'EdDSA' })) }));

/** The claims that were signed, expired or not. */
export type ReadRunToken = (token: string) => Promise<RunTokenClaims>;

/**
 * Reads run tokens with public keys only; which of them signed is told by `kid`. Rejects when a text is no token, or is not
 * what was signed.
 * @param keys of the validators, two while one is being rotated out.
 */
export const runTokenReader = (keys: JSONWebKeySet): ReadRunToken => {
  const payloadOf = signedPayloads(keys);
  return async (token) => {
    const parts = runTokenParts(token);
    if (parts === null) throw new Error('it has not the form of a token');
    const claims = claimsIn(parts, await payloadOf(parts.jws));
    if (claims === null) throw new Error('its claims are not what was signed');
    return claims;
  };
};

/** Payload of a JWS whose signature is good; the same JWS is verified once. Rejects when it is not. */
const signedPayloads = (keys: JSONWebKeySet): ((jws: string) => Promise<string>) => {
  const keyOf = createLocalJWKSet(keys);
  const known = new LRUCache<string, Promise<string>>({ max: SIGNATURES });
  const verified = async (jws: string): Promise<string> => {
    const { payload } = await compactVerify(jws, keyOf, { algorithms: ['EdDSA', 'Ed25519'] });
    return new TextDecoder().decode(payload);
  };
  return (jws) => {
    const payload = known.get(jws) ?? verified(jws);
    known.set(jws, payload);
    payload.catch(() => known.delete(jws));
    return payload;
  };
};

const claimsIn = ({ claims, proof }: RunTokenParts, signed: string): RunTokenClaims | null => {
  const root = rootOf(claims, proof);
  if (root === null || rootPayload(root) !== signed) return null;
  return runTokenClaimsSchema.parse(JSON.parse(Buffer.from(claims, 'base64url').toString()));
};

/** A provider value of the service that takes work from runs: how its process knows them. Every other one takes none. */
export class RunTokens {
  /** Null: not a good token, or its time is over. */
  readonly claimsOf: (token: string) => Promise<RunTokenClaims | null>;

  constructor(keys: JSONWebKeySet, now: () => Date) {
    const read = runTokenReader(keys);
    this.claimsOf = async (token) => {
      const claims = await read(token).catch(() => null);
      return claims !== null && claims.exp * 1000 > now().getTime() ? claims : null;
    };
  }
}
