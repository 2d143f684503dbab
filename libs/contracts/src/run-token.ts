import { z } from 'zod';
import { contentHash } from './content-hash.ts';
import type { NodeReady } from './events/lineage-events.ts';
import type { InclusionProof } from './merkle.ts';

/** Claims of the token that the validator mints and the executor checks: one token, one run (INV1). */
export const runTokenClaimsSchema = z.object({
  /** Token id (nonce). */
  jti: z.string(),
  root: z.string(),
  task: z.string(),
  run: z.int().positive(),
  run_kind: z.string(),
  spec_hash: z.string(),
  firewall_hash: z.string(),
  /** {@link startHash} */
  start_hash: z.string(),
  project: z.string(),
  mode: z.string(),
  /** Seconds since 1970. Lifetime: 1 h. */
  exp: z.number(),
});
export type RunTokenClaims = z.infer<typeof runTokenClaimsSchema>;

type Start = Pick<
  NodeReady,
  'workspace_ref' | 'source' | 'keep' | 'judges' | 'allowance' | 'merge' | 'deliver' | 'verdicts_of' | 'decisions'
>;

/**
 * Where a run starts, what it keeps and what it may spend, what is merged into it and where it is delivered, and which
 * decisions of humans it rests on: the first run of a lineage has a source and no commit yet.
 */
export const startHash = ({ workspace_ref, source, keep, judges, allowance, ...more }: Start): string => {
  const { merge, deliver, verdicts_of, decisions } = more;
  return contentHash({ workspace_ref, source, keep, judges, allowance, merge, deliver, verdicts_of, decisions });
};

export const RUN_TOKEN_LIFETIME_S = 3600;

/**
 * Parts of a token. Tokens that are minted together share one signature: a JWS whose payload is the root of a hash tree
 * over their claims.
 */
export interface RunTokenParts {
  /** Compact JWS (EdDSA) over {@link rootPayload}. */
  readonly jws: string;
  /** base64url of the claims as JSON. */
  readonly claims: string;
  readonly proof: InclusionProof;
}

/** What is signed: nothing else that is signed with these keys looks like it. */
export const rootPayload = (root: string): string => JSON.stringify({ run_tokens: root });

/** `<jws>~<claims>~<index>.<size>[.<hash>…]` */
export const runToken = ({ jws, claims, proof: { index, size, hashes } }: RunTokenParts): string =>
  `${jws}~${claims}~${[index, size, ...hashes].join('.')}`;

const FORM = /^(?<jws>[\w.-]+)~(?<claims>[\w-]+)~(?<index>\d{1,4})\.(?<size>\d{1,4})(?<hashes>(?:\.[\w-]{43})*)$/;

/** Null when the text has not the form of a token. */
export const runTokenParts = (token: string): RunTokenParts | null => {
  const found = FORM.exec(token)?.groups;
  if (found === undefined) return null;
  const { jws = '', claims = '', index, size, hashes = '' } = found;
  return { jws, claims, proof: { index: Number(index), size: Number(size), hashes: hashes.split('.').slice(1) } };
};
