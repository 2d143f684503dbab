import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { apiKeysSchema, includesRole, principalOf } from './api-keys.ts';

const sha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const ann = { name: 'ann', role: 'writer', sha256: sha256('one') } as const;
const bob = { name: 'bob', role: 'reader', sha256: sha256('two') } as const;

describe('a list of keys', () => {
  test('is read from names, roles and hashes', () => {
    const text = `ann:writer:${ann.sha256}, bob:reader:${bob.sha256}`;
    expect(apiKeysSchema.parse(text)).toEqual([ann, bob]);
  });

  test('is read from JSON', () => {
    expect(apiKeysSchema.parse(JSON.stringify([ann, bob]))).toEqual([ann, bob]);
  });

  test('may be empty', () => {
    expect(apiKeysSchema.parse('')).toEqual([]);
  });

  test.each([
    ['a role that does not exist', `ann:owner:${ann.sha256}`],
    ['a secret in the clear', 'ann:writer:one'],
    ['a missing hash', 'ann:writer'],
    ['a name that the system uses', `local:writer:${ann.sha256}`],
    ['the same name twice', `ann:writer:${ann.sha256},ann:reader:${bob.sha256}`],
    ['the same secret twice', `ann:writer:${ann.sha256},bob:reader:${ann.sha256}`],
    ['half a JSON text', '[{"name":'],
  ])('refuses %s', (_what, text) => {
    expect(apiKeysSchema.safeParse(text).success).toBe(false);
  });
});

describe('a secret', () => {
  test('tells who asks', () => {
    expect(principalOf([ann, bob], 'two')).toEqual({ name: 'bob', role: 'reader' });
  });

  test('that no key has is nobody', () => {
    expect(principalOf([ann, bob], 'three')).toBeNull();
  });

  test('is not its own hash', () => {
    expect(principalOf([ann], ann.sha256)).toBeNull();
  });
});

describe('a role', () => {
  test.each([
    ['reader', 'reader', true],
    ['reader', 'writer', false],
    ['writer', 'reader', true],
    ['writer', 'admin', false],
    ['admin', 'writer', true],
    ['worker', 'worker', true],
    ['worker', 'reader', false],
    ['reader', 'worker', false],
    ['writer', 'worker', true],
    ['admin', 'worker', true],
  ] as const)('%s includes %s: %s', (role, needed, includes) => {
    expect(includesRole(role, needed)).toBe(includes);
  });
});
