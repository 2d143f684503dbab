import type { RunTokenClaims } from '@fixpoint/contracts/run-token';
import { runTokenReader } from '@fixpoint/runtime/run-tokens';
import type { JSONWebKeySet } from 'jose';

/** What the token must have been minted for. */
export type Expected = Omit<RunTokenClaims, 'jti' | 'exp'>;

export type TokenVerdict =
  | { readonly valid: true; readonly claims: RunTokenClaims }
  | { readonly valid: false; readonly reason: 'token_expired' | 'token_invalid'; readonly detail: string };

export type TokenCheck = (token: string, expected: Expected, now: Date) => Promise<TokenVerdict>;

/**
 * Checks signature, lifetime and every claim of a run token against the run at hand.
 * @param keys public keys of the validators, two while one is being rotated out.
 */
export const tokenCheck = (keys: JSONWebKeySet): TokenCheck => {
  const read = runTokenReader(keys);
  return async (token, expected, now) => {
    try {
      return compared(await read(token), expected, now);
    } catch (error) {
      return invalid(error instanceof Error ? error.message : String(error));
    }
  };
};

const compared = (claims: RunTokenClaims, expected: Expected, now: Date): TokenVerdict => {
  if (claims.exp * 1000 <= now.getTime()) return { valid: false, reason: 'token_expired', detail: 'its hour is over' };
  const wrong = firstDifference(claims, expected);
  return wrong === null ? { valid: true, claims } : invalid(`minted for another ${wrong}`);
};

const invalid = (detail: string): TokenVerdict => ({ valid: false, reason: 'token_invalid', detail });

const firstDifference = (claims: RunTokenClaims, expected: Expected): string | null => {
  for (const [claim, value] of Object.entries(expected)) {
    if (claims[claim as keyof Expected] !== value) return claim;
  }
  return null;
};
