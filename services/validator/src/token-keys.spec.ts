import { rootOf } from '@fixpoint/contracts/merkle';
import { rootPayload, runTokenParts } from '@fixpoint/contracts/run-token';
import { publicKeysSchema } from '@fixpoint/runtime/run-tokens';
import { describe, expect, test } from '@jest/globals';
import { compactVerify, createLocalJWKSet } from 'jose';
import { runTokens } from './run-tokens.ts';
import { generateSigningKeys, publicKeysOf, type SigningKeys, signingKeysSchema } from './token-keys.ts';
import { nodeReadyOf } from './validator.fixture.ts';

const hash = 'f'.repeat(64);
let made = 0;
const parts = { clock: { now: () => new Date() }, ids: { uuid: () => `nonce-${++made}` } };
const mintWith = async (keys: SigningKeys) => runTokens(keys, parts)(nodeReadyOf(), hash);

const opened = async (token: string, keys: SigningKeys) => {
  const found = runTokenParts(token);
  if (found === null) throw new Error(`${token} has not the form of a token`);
  const { payload, protectedHeader } = await compactVerify(found.jws, createLocalJWKSet(publicKeysOf(keys)));
  return { ...found, signed: new TextDecoder().decode(payload), kid: protectedHeader.kid };
};

describe('run tokens', () => {
  test('S-T97: two for one run differ', async () => {
    const keys = generateSigningKeys('a');
    expect(await mintWith(keys)).not.toBe(await mintWith(keys));
  });

  test('are good during a rotation, whichever of two keys signed', async () => {
    const [old, young] = [generateSigningKeys('old'), generateSigningKeys('young')];
    const kidOf = async (keys: SigningKeys) => (await opened(await mintWith(keys), [...young, ...old])).kid;
    expect([await kidOf([...old, ...young]), await kidOf([...young, ...old])]).toEqual(['old', 'young']);
  });

  test('S-T86: of an unknown key are not', async () => {
    const [ours, theirs] = [generateSigningKeys('a'), generateSigningKeys('a')];
    await expect(opened(await mintWith(theirs), ours)).rejects.toThrow('signature');
  });

  test.each([1, 2, 3, 100, 1_025])('%d asked for in one turn share as few signatures as they can', async (count) => {
    const keys = generateSigningKeys('a');
    const mint = runTokens(keys, parts);
    const tokens = await Promise.all(Array.from({ length: count }, () => mint(nodeReadyOf(), hash)));
    const signatures = new Set(tokens.map((token) => runTokenParts(token)?.jws));
    expect(signatures.size).toBe(Math.ceil(count / 1_024));
    expect(new Set(tokens).size).toBe(count);
    for (const token of [tokens[0], tokens.at(-1)]) {
      const { claims, proof, signed } = await opened(token ?? '', keys);
      expect(signed).toBe(rootPayload(rootOf(claims, proof) ?? ''));
    }
  });

  test('public keys cannot sign', async () => {
    const keys = generateSigningKeys('a');
    expect(JSON.stringify(publicKeysOf(keys))).not.toContain(keys[0]?.d);
    expect(publicKeysOf(keys).keys[0]).not.toHaveProperty('d');
  });

  test('are never signed by one of two keys that nobody could tell apart', () => {
    const [one, other] = [generateSigningKeys('2026-11'), generateSigningKeys('2026-11')];
    const bothPublic = JSON.stringify([...publicKeysOf(one).keys, ...publicKeysOf(other).keys]);
    expect(signingKeysSchema.safeParse([...one, ...other]).error?.message).toContain('same kid');
    expect(publicKeysSchema.safeParse(bothPublic).error?.message).toContain('same kid');
    expect(signingKeysSchema.safeParse([...one, ...generateSigningKeys('2026-12')]).success).toBe(true);
  });

  test('of no key, or of one that is none, are not minted', async () => {
    await expect(mintWith([])).rejects.toThrow('no signing key');
    await expect(mintWith([{ kty: 'OKP', crv: 'Ed25519', kid: 'a', x: 'x', d: 'd' }])).rejects.toThrow();
  });
});
