import { merkleTree } from '@fixpoint/contracts/merkle';
import { rootPayload, runToken, runTokenParts } from '@fixpoint/contracts/run-token';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { CompactSign, exportJWK, generateKeyPair, type JWK } from 'jose';
import { type Expected, type TokenCheck, tokenCheck } from './token-check.ts';

const now = new Date('2026-01-01T00:00:00.000Z');
const expected: Expected = {
  root: 'r',
  task: 'r.f1',
  run: 2,
  run_kind: 'normal',
  spec_hash: 'spec',
  firewall_hash: 'wall',
  start_hash: 'start',
  project: 'web-shop',
  mode: 'build',
};

describe('token check', () => {
  let keys: Awaited<ReturnType<typeof generateKeyPair>>;
  let publicKey: JWK;
  let check: TokenCheck;
  const claimsText = (claims: object, expiresInS: number): string =>
    Buffer.from(JSON.stringify({ ...claims, exp: now.getTime() / 1000 + expiresInS })).toString('base64url');
  /** Tokens that share a signature. */
  const mintAll = async (
    all: readonly object[],
    expiresInS = 3600,
    { signWith = keys.privateKey, kid = 'k1' } = {},
  ) => {
    const texts = all.map((claims) => claimsText(claims, expiresInS));
    const { root, proofs } = merkleTree(texts);
    const jws = await new CompactSign(new TextEncoder().encode(rootPayload(root)))
      .setProtectedHeader({ alg: 'EdDSA', kid })
      .sign(signWith);
    return proofs.map((proof, index) => runToken({ jws, claims: texts[index] ?? '', proof }));
  };
  const mint = async (...[claims, ...how]: [object, number?, object?]) => (await mintAll([claims], ...how))[0] ?? '';

  beforeAll(async () => {
    keys = await generateKeyPair('EdDSA');
    publicKey = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'EdDSA' };
    check = tokenCheck({ keys: [publicKey] });
  });

  test('S-T85 accepts a token of this run', async () => {
    expect(await check(await mint({ ...expected, jti: 'n1' }), expected, now)).toMatchObject({ valid: true });
  });
  test('S-T90 looking at a token does not use it', async () => {
    const token = await mint({ ...expected, jti: 'n1' });
    const verdicts = [await check(token, expected, now), await check(token, expected, now)];
    expect(verdicts.map(({ valid }) => valid)).toEqual([true, true]);
  });
  test('S-T87 tells an expired token from an invalid one', async () => {
    const token = await mint({ ...expected, jti: 'n1' }, -1);
    expect(await check(token, expected, now)).toMatchObject({ valid: false, reason: 'token_expired' });
  });
  test('S-T86 refuses another key', async () => {
    const other = await generateKeyPair('EdDSA');
    const token = await mint({ ...expected, jti: 'n1' }, 3600, { signWith: other.privateKey });
    expect(await check(token, expected, now)).toMatchObject({ valid: false, reason: 'token_invalid' });
  });
  test('refuses an unknown key id', async () => {
    const token = await mint({ ...expected, jti: 'n1' }, 3600, { kid: 'k9' });
    expect(await check(token, expected, now)).toMatchObject({ valid: false, reason: 'token_invalid' });
  });
  test.each(Object.keys(expected) as (keyof Expected)[])(
    'S-T89 refuses a token minted for another %s',
    async (claim) => {
      const other = { ...expected, [claim]: claim === 'run' ? 3 : 'other', jti: 'n1' };
      const verdict = await check(await mint(other), expected, now);
      expect(verdict).toMatchObject({ valid: false, reason: 'token_invalid', detail: expect.stringContaining(claim) });
    },
  );
  test('accepts either key while one is rotated out', async () => {
    const next = await generateKeyPair('EdDSA');
    const both = tokenCheck({ keys: [publicKey, { ...(await exportJWK(next.publicKey)), kid: 'k2', alg: 'EdDSA' }] });
    expect(await both(await mint({ ...expected, jti: 'n' }), expected, now)).toMatchObject({ valid: true });
    const token = await mint({ ...expected, jti: 'n' }, 3600, { signWith: next.privateKey, kid: 'k2' });
    expect(await both(token, expected, now)).toMatchObject({ valid: true });
  });
  test('accepts each of the tokens that share a signature, for its own run only', async () => {
    const runs = [1, 2, 3, 4, 5];
    const tokens = await mintAll(runs.map((run) => ({ ...expected, run, jti: `n${run}` })));
    for (const [place, token] of tokens.entries()) {
      const verdicts = await Promise.all(runs.map((run) => check(token, { ...expected, run }, now)));
      expect(verdicts.map(({ valid }) => valid)).toEqual(runs.map((run) => run === place + 1));
    }
  });
  test('refuses claims under the signature of others', async () => {
    const [token = ''] = await mintAll([{ ...expected, run: 1, jti: 'n1' }]);
    const parts = runTokenParts(token);
    if (parts === null) throw new Error('no token');
    const forged = runToken({ ...parts, claims: claimsText({ ...expected, jti: 'n2' }, 3600) });
    expect(await check(forged, expected, now)).toMatchObject({ valid: false, reason: 'token_invalid' });
  });
  test('refuses the same forgery again after the true token was accepted', async () => {
    const [token = ''] = await mintAll([{ ...expected, jti: 'n1' }]);
    expect(await check(token, expected, now)).toMatchObject({ valid: true });
    const bent = token.replace(
      /^(.*?\..*?\.)(.)/,
      (_all, head: string, first: string) => head + (first === 'A' ? 'B' : 'A'),
    );
    expect(await check(bent, expected, now)).toMatchObject({ valid: false });
    expect(await check(bent, expected, now)).toMatchObject({ valid: false });
  });
  test.each(['', 'a.b.c', 'null', 'a.b.c~e30~0.1', 'a.b.c~e30~0.1~x'])('refuses garbage (%j)', async (token) => {
    expect(await check(token, expected, now)).toMatchObject({ valid: false, reason: 'token_invalid' });
  });
});
