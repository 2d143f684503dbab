import { describe, expect, test } from '@jest/globals';
import { parseConfig } from './config.ts';
import { generateSigningKeys } from './token-keys.ts';

const connections = { FIXPOINT_POSTGRES_URL: 'postgres://localhost/x', FIXPOINT_NATS_URL: 'nats://localhost' };

describe('configuration of the validator', () => {
  test('needs only connections and signing keys', async () => {
    const keys = generateSigningKeys('a');
    const config = parseConfig({ ...connections, FIXPOINT_TOKEN_SIGNING_KEYS: JSON.stringify(keys) });
    expect(config).toMatchObject({ signingKeys: keys, port: 4102, concurrency: 256, longConcurrency: 4 });
  });

  test.each([
    ['no keys', undefined],
    ['an empty list', '[]'],
    ['no JSON', 'secret-value'],
    ['a public key', JSON.stringify([{ kty: 'OKP', crv: 'Ed25519', kid: 'a', x: 'secret-value' }])],
    ['a key of another kind', JSON.stringify([{ kty: 'RSA', kid: 'a', d: 'secret-value' }])],
  ])('E9, S-T96: refuses %s and does not repeat it', (_, keys) => {
    const parse = () => parseConfig({ ...connections, FIXPOINT_TOKEN_SIGNING_KEYS: keys });
    expect(parse).toThrow('FIXPOINT_TOKEN_SIGNING_KEYS');
    expect(parse).not.toThrow('secret-value');
  });
});
