import { expect, test } from '@jest/globals';
import { withinLimit } from './time-limit.ts';

test('synchronous work keeps a process for 5 s at most, whatever a document allows it', () => {
  const endless = (): never => {
    for (;;);
  };
  expect(() => withinLimit(20_000, endless)).toThrow('not finished after 5000 ms');
}, 60_000);
