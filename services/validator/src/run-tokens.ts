import { sign } from 'node:crypto';
import type { Clock, Ids } from '@fixpoint/contracts/clock';
import { merkleTree } from '@fixpoint/contracts/merkle';
import {
  RUN_TOKEN_LIFETIME_S,
  type RunTokenClaims,
  rootPayload,
  runToken,
  startHash,
} from '@fixpoint/contracts/run-token';
import type { NodeReady } from './run-lookup.ts';
import { type SigningKeys, signingKey } from './token-keys.ts';

/** Mints the token of a run; two for one run are different and only one of them is stored. */
export type MintToken = (run: NodeReady, firewallHash: string) => Promise<string>;

export interface RunTokensOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  /** When to sign what has been asked for since the last time; default: at the end of this turn of the event loop. */
  gather?(signAll: () => void): void;
}

/** A batch's proof stays below a kilobyte. */
const MOST_TOGETHER = 1_024;

/**
 * Tokens that are asked for together are signed together: a signature (EdDSA) takes far longer than everything else of a
 * token, to make and to check. Signed here and not through jose, whose way over WebCrypto takes 135 µs of processor time
 * instead of 68 (Node 24); what checks them does use jose.
 * @param keys the first one signs. A token is good for an hour by the clock given.
 */
export const runTokens = (keys: SigningKeys, options: RunTokensOptions): MintToken => {
  const { kid, key } = signingKey(keys);
  const header = base64url({ alg: 'EdDSA', kid });
  const { gather = (signAll) => void setImmediate(signAll) } = options;
  let waiting: { readonly claims: string; readonly resolve: (token: string) => void }[] = [];

  const signed = (payload: string): string => {
    const text = `${header}.${Buffer.from(payload).toString('base64url')}`;
    return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
  };

  const signAll = (): void => {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    const { root, proofs } = merkleTree(batch.map(({ claims }) => claims));
    const jws = signed(rootPayload(root));
    for (const [place, proof] of proofs.entries()) {
      const asked = batch[place];
      asked?.resolve(runToken({ jws, claims: asked.claims, proof }));
    }
  };

  return (run, firewallHash) => {
    const claims = base64url(claimsOf(options, run, firewallHash));
    return new Promise((resolve) => {
      waiting.push({ claims, resolve });
      if (waiting.length === MOST_TOGETHER) signAll();
      else if (waiting.length === 1) gather(signAll);
    });
  };
};

const claimsOf = ({ clock, ids }: RunTokensOptions, run: NodeReady, firewallHash: string): RunTokenClaims => ({
  jti: ids.uuid(),
  root: run.root,
  task: run.task,
  run: run.run,
  run_kind: run.run_kind,
  spec_hash: run.spec_hash,
  firewall_hash: firewallHash,
  start_hash: startHash(run),
  project: run.scope.project,
  mode: run.scope.mode,
  exp: Math.floor(clock.now().getTime() / 1000) + RUN_TOKEN_LIFETIME_S,
});

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
