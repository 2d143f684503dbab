import { expect, test } from '@jest/globals';
import { shrink } from './shrink.ts';
import type { Simulated } from './simulate.ts';

const played = (taken: readonly string[], broken: readonly string[]): Simulated => ({
  seed: 1,
  taken,
  broken,
  events: [],
});

/** Breaks when both of two things happen, whatever else does. */
const play = async (only: ReadonlySet<string>): Promise<Simulated> =>
  played([...only], only.has('k 7') && only.has('k 31') ? ['rule: here'] : []);

test('what is left of a failing world is what it needs', async () => {
  const all = Array.from({ length: 60 }, (_, index) => `k ${index}`);
  const { smallest, tries } = await shrink(played(all, ['rule: there']), play);
  expect(smallest.taken).toEqual(['k 7', 'k 31']);
  expect(tries).toBeLessThan(120);
});

test('a world that breaks another rule is not smaller, it is another one', async () => {
  const other = async (only: ReadonlySet<string>): Promise<Simulated> => played([...only], ['another: rule']);
  const failing = played(['k 1', 'k 2'], ['rule: there']);
  expect((await shrink(failing, other)).smallest).toBe(failing);
});
