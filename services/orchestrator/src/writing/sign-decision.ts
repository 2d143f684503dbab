import { createPrivateKey, sign } from 'node:crypto';
import type { SignedDecision } from '@fixpoint/contracts/human-decision';
import { z } from 'zod';

const keySchema = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string().min(1),
  x: z.string().min(1),
  d: z.string().min(1),
});

/** Private keys as JWK; the first one signs, another one may be on its way in or out. */
export const decisionKeysSchema = z.array(keySchema);
export type DecisionKeys = z.infer<typeof decisionKeysSchema>;

/** Compact JWS (EdDSA) over a decision. */
export type SignDecision = (decision: SignedDecision) => string;

/** @returns null without a key: nobody can decide here. */
export const decisionSigner = ([first]: DecisionKeys): SignDecision | null => {
  if (first === undefined) return null;
  const { kty, crv, kid, x, d } = first;
  const key = createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' });
  const header = base64url({ alg: 'EdDSA', kid });
  return (decision) => {
    const text = `${header}.${base64url({ human_decision: decision })}`;
    return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
  };
};

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
