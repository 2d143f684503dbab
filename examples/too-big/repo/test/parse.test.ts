import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLine } from '../src/http/parse.ts';

test('a price in a request becomes cents', () => {
  assert.deepEqual(parseLine({ name: 'tea', count: 3, price: '10.10' }), { name: 'tea', count: 3, priceCents: 1010 });
});
