import { describe, expect, test } from '@jest/globals';
import { displayText } from './display-text.ts';
import { eventHash, type HashedParts } from './hash.ts';
import { shardOf } from './shard.ts';

const parts: HashedParts = {
  stream: 'lineage-1',
  version: 1,
  id: '019b7ca3-9e0e-8000-8000-000000000000',
  type: 'task_submitted',
  schemaVersion: 1,
  occurredAt: '2026-01-02T03:04:05.006Z',
  metadata: '{"actor":"local"}',
  data: '{"goal":"\\u0000"}',
};

describe('event hash', () => {
  test('is fixed for ever', () => {
    expect(eventHash(parts).toString('hex')).toBe('6bcd4114c28a87f2848954520eb9d09da30cb8fd7912ab130d7ff5c3981d5570');
  });

  test.each([
    { stream: 'lineage-2' },
    { version: 2 },
    { id: '019b7ca3-9e0e-8000-8000-000000000001' },
    { type: 'task_cancelled' },
    { schemaVersion: 2 },
    { occurredAt: '2026-01-02T03:04:05.007Z' },
    { metadata: '{"actor":"other"}' },
    { data: '{"goal":""}' },
  ])('S-T99 changes with %j', (change) => {
    expect(eventHash({ ...parts, ...change })).not.toEqual(eventHash(parts));
  });
});

describe('shard', () => {
  test.each([
    ['', 227],
    ['lineage-1', 163],
    ['grüße', 130],
  ])('of %j is %i for ever', (root, shard) => {
    expect(shardOf(root)).toBe(shard);
  });
});

describe('display text', () => {
  test('shows NUL and lone surrogates as characters that a text column takes', () => {
    expect(displayText('a\0b\ud800c\udc00😀')).toBe('a\u2400b\ufffdc\ufffd😀');
  });
});
