import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { driveToRest } from './drive.ts';
import { brokenIn } from './invariants.ts';
import { tablesOf } from './projections.ts';
import { randomRoute } from './random-route.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import { type Story, storiesOf } from './story.ts';
import { startWorld, type World } from './world.ts';

jest.setTimeout(300_000);

const RUNS = 200;
const lost = 'executor-is-lost';

const known = new Map<string, Promise<Story | undefined>>();

const baseline = (scenario: Scenario): Promise<Story | undefined> => {
  const tell = async (): Promise<Story | undefined> => {
    const world = await startWorld();
    await world.submit([scenario]);
    await driveToRest(world);
    return storiesOf(await world.events()).get(scenario.name);
  };
  const story = known.get(scenario.name) ?? tell();
  known.set(scenario.name, story);
  return story;
};

/** All messages that there ever were come again, and once more from the last to the first. */
const replay = async (world: World): Promise<void> => {
  const all = [...world.bus.published];
  await world.bus.publish([...all, ...all.toReversed()]);
  await driveToRest(world);
};

/** A killed executor takes the work of others with it: its scenario comes alone. */
const some = fc.oneof(
  {
    weight: 15,
    arbitrary: fc.shuffledSubarray(
      scenarios.filter(({ name }) => name !== lost),
      { minLength: 1, maxLength: 3 },
    ),
  },
  { weight: 1, arbitrary: fc.constant(scenarios.filter(({ name }) => name === lost)) },
);

describe('messages lost, repeated, late and in any order', () => {
  test('N7 C9 change no end, no counter and no decision, and break nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), some, async (seed, which) => {
        const world = await startWorld({ ...randomRoute(seed), tokenIds: 'by_sequence' });
        await world.submit(which);
        await driveToRest(world);
        const events = await world.events();

        const stories = storiesOf(events);
        for (const each of which) expect(stories.get(each.name)).toEqual(await baseline(each));
        expect(brokenIn(events)).toEqual([]);
        expect(await world.openLineages()).toEqual([]);
        expect(tablesOf(events, events)).toEqual(tablesOf(events));

        await replay(world);
        expect(await world.events()).toEqual(events);
        expect(world.reports).toEqual([]);
      }),
      { numRuns: RUNS, seed: 20_260_101 },
    );
  });
});
