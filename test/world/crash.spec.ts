import { describe, expect, jest, test } from '@jest/globals';
import { driveToRest } from './drive.ts';
import { brokenIn } from './invariants.ts';
import type { Scenario } from './scenario.ts';
import { scenarioNamed } from './scenarios.ts';
import { type Story, storiesOf } from './story.ts';
import { startWorld, type World } from './world.ts';

// Every scenario once for each of its appends.
jest.setTimeout(120_000);

const worldAfter = async (scenario: Scenario, crashAt: number): Promise<World> => {
  const world = await startWorld();
  await world.submit([scenario]);
  world.crashAtAppend(crashAt);
  await driveToRest(world);
  return world;
};

const storyOf = async (world: World, { name }: Scenario): Promise<Story | undefined> =>
  storiesOf(await world.events()).get(name);

/** A run that was lost half way is told, and made again: more runs, and nothing else. */
const withoutRuns = (story: Story | undefined) => ({ ...story?.ending, runs: 'as many as it takes' });

describe('a process killed right after an append, before it could tell anybody', () => {
  test.each(
    ['counts-in-process', 'one-node', 'unmet-then-met', 'one-fix', 'too-deep', 'hard-blocker', 'check-comes-back'].map(
      (name) => [name, scenarioNamed(name)] as const,
    ),
  )('A11 C9 changes no end and no charge: %s', async (_name, scenario) => {
    const calm = await worldAfter(scenario, 0);
    const expected = await storyOf(calm, scenario);
    const crashed = new Set<string>();
    for (let append = 1; append < calm.appends(); append += 1) {
      const world = await worldAfter(scenario, append);
      const story = await storyOf(world, scenario);
      crashed.add(world.crashed()?.split('-')[0] ?? 'nobody');
      if (world.crashed()?.startsWith('executor')) expect(withoutRuns(story)).toEqual(withoutRuns(expected));
      else expect(story).toEqual(expected);
      expect(brokenIn(await world.events())).toEqual([]);
    }
    expect([...crashed]).toEqual(expect.arrayContaining(['orchestrator', 'validator', 'executor']));
  });
});
