import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { plant, plantedBugs } from './planted-bugs.ts';
import { simulate } from './simulate.ts';

jest.setTimeout(120_000);

/** More worlds than any of these bugs survives. */
const MOST_SEEDS = 150;

let takeOut = (): void => undefined;
afterEach(() => takeOut());

const firstFound = async (rule: string): Promise<number | null> => {
  for (let seed = 1; seed <= MOST_SEEDS; seed += 1) {
    const { broken } = await simulate(seed);
    if (broken.some((what) => what.startsWith(rule))) return seed;
  }
  return null;
};

describe('a bug in the decider is found by the simulator', () => {
  test.each(plantedBugs.map((bug) => [bug.name, bug] as const))('%s', async (_name, bug) => {
    takeOut = plant(bug);
    expect(await firstFound(bug.foundBy)).not.toBeNull();
  });
});
