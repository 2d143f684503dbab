import { describe, expect, test } from '@jest/globals';
import { waitOf } from './delivery.ts';

const DAY_MS = 24 * 3_600_000;

describe('N29 a message that waits for its time', () => {
  const address = { reader: 'svc__reader', failures: 1, notBefore: 100_000 };

  test('waits what is left of it', () => {
    expect(waitOf(address, 98_500)).toBe(1_500);
  });

  test('is due when the clock of whoever has it is ahead', () => {
    expect(waitOf(address, 100_000 + DAY_MS)).toBe(0);
  });

  test('waits a minute at most when the clock of whoever sent it was ahead', () => {
    expect(waitOf({ ...address, notBefore: 100_000 + DAY_MS }, 100_000)).toBe(60_000);
  });
});
