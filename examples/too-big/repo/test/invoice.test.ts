import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/domain/invoice.ts';
import { parseLine } from '../src/http/parse.ts';
import { renderAmount } from '../src/http/render.ts';
import { fromRow, toRow } from '../src/store/invoice-row.ts';

test('an invoice keeps its cents from the request to the answer', () => {
  const lines = [
    parseLine({ name: 'tea', count: 3, price: '0.10' }),
    parseLine({ name: 'cup', count: 1, price: '0.20' }),
  ];
  assert.equal(renderAmount(total(lines.map(toRow).map(fromRow))), '0.50 EUR');
});
