import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/domain/invoice.ts';

test('a total is whole cents', () => {
  assert.equal(
    total([
      { name: 'tea', priceCents: 10, count: 3 },
      { name: 'cup', priceCents: 20, count: 1 },
    ]),
    50,
  );
});
