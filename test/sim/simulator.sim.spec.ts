import { describe, expect, jest, test } from '@jest/globals';
import { playSeeds } from './play-seeds.ts';
import { reportOf } from './statistics.ts';

// Two processes play for minutes; a busy machine needs longer.
jest.setTimeout(15 * 60_000);

/** A third of a second of processor time each; `npm run sim` plays as many others as there is time for. */
const SEEDS = 80;
const WORKERS = 2;

describe('worlds in which everything goes wrong that can', () => {
  test('B3 B14 C1 C7 C14 C15 C18 C19 INV3 break no rule and come to rest: the same seeds each time', async () => {
    const statistics = await playSeeds(1, SEEDS, WORKERS);
    expect(statistics.failures).toEqual([]);
    expect(statistics.seeds).toBe(SEEDS);
    process.stderr.write(`${reportOf(statistics)}\n`);
  });
});
