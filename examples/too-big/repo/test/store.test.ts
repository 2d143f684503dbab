import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromRow, toRow } from '../src/store/invoice-row.ts';

test('a row holds cents', () => {
  assert.equal(toRow({ name: 'tea', count: 3, priceCents: 1010 }), 'tea;3;1010');
  assert.deepEqual(fromRow('tea;3;1010'), { name: 'tea', count: 3, priceCents: 1010 });
});
