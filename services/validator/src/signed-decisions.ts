import { decisionPayloadSchema, type SignedDecision } from '@fixpoint/contracts/human-decision';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';

/** Reads decisions that a run rests on; those that nobody here signed are as if they were not there. */
export type ReadDecisions = (signatures: readonly string[]) => Promise<readonly SignedDecision[]>;

/** @param keys public keys of the orchestrators, two while one is rotated out; without any, no decision is believed. */
export const signedDecisions = (keys: JSONWebKeySet): ReadDecisions => {
  const keySet = keys.keys.length === 0 ? null : createLocalJWKSet(keys);
  return async (signatures) => {
    if (keySet === null) return [];
    const read = await Promise.all(signatures.map((jws) => decisionIn(jws, keySet)));
    return read.filter((decision) => decision !== null);
  };
};

const decisionIn = async (
  jws: string,
  keySet: ReturnType<typeof createLocalJWKSet>,
): Promise<SignedDecision | null> => {
  try {
    const { payload } = await compactVerify(jws, keySet, { algorithms: ['EdDSA'] });
    return decisionPayloadSchema.parse(JSON.parse(new TextDecoder().decode(payload))).human_decision;
  } catch {
    return null;
  }
};
