import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderAmount } from '../src/http/render.ts';

test('cents are shown as euros', () => {
  assert.equal(renderAmount(1010), '10.10 EUR');
});
