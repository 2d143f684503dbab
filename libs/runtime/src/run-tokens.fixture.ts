import { merkleTree } from '@fixpoint/contracts/merkle';
import { type RunTokenClaims, rootPayload, runToken } from '@fixpoint/contracts/run-token';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import type { TokenKeys } from './run-tokens.ts';

export interface TokenMint {
  /** The public half. */
  readonly keys: TokenKeys;
  readonly mint: (claims: Partial<RunTokenClaims>) => Promise<string>;
}

const CLAIMS: RunTokenClaims = {
  ...{ jti: 'nonce', root: 'r', task: 'r', run: 1, run_kind: 'normal', project: 'shop', mode: 'build' },
  ...{ spec_hash: 'spec', firewall_hash: 'wall', start_hash: 'start', exp: 32_503_680_000 },
};

/** Mints tokens as a validator does, with a key pair of its own. */
export const tokenMint = async (): Promise<TokenMint> => {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA');
  const mint = async (changes: Partial<RunTokenClaims>): Promise<string> => {
    const claims = Buffer.from(JSON.stringify({ ...CLAIMS, ...changes })).toString('base64url');
    const { root, proofs } = merkleTree([claims]);
    const signed = new CompactSign(new TextEncoder().encode(rootPayload(root)));
    const jws = await signed.setProtectedHeader({ alg: 'EdDSA', kid: 'k1' }).sign(privateKey);
    const [proof] = proofs;
    if (proof === undefined) throw new Error('a tree of one leaf has one proof');
    return runToken({ jws, claims, proof });
  };
  return { keys: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'EdDSA' }] }, mint };
};
