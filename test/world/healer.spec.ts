import { READERS } from '@fixpoint/contracts/services';
import type { Publication } from '@fixpoint/messaging/bus';
import { faithful } from '@fixpoint/messaging/delivery-policy';
import { describe, expect, jest, test } from '@jest/globals';
import { driveToRest } from './drive.ts';
import { brokenIn } from './invariants.ts';
import type { Scenario } from './scenario.ts';
import { scenarioNamed } from './scenarios.ts';
import { storiesOf } from './story.ts';
import { inOrder, startWorld, type World, type WorldOptions } from './world.ts';

// Every scenario once for each of its messages.
jest.setTimeout(240_000);

const names = [
  'counts-in-process',
  'two-nodes',
  'one-fix',
  'nested-fix',
  'never-met',
  'hard-blocker',
  'check-comes-back',
];
const rows = names.map((name) => [name, scenarioNamed(name)] as const);

const worldAfter = async (scenario: Scenario, options: WorldOptions): Promise<World> => {
  const world = await startWorld(options);
  await world.submit([scenario]);
  await driveToRest(world);
  return world;
};

const endOf = async (world: World, { name }: Scenario) => storiesOf(await world.events()).get(name)?.ending;

/** A route that does something with the message of this number. */
const routeAt = (index: number, act: () => void): WorldOptions['route'] => {
  let passed = 0;
  return {
    ...inOrder,
    fate: () => {
      passed += 1;
      if (passed !== index) return { copies: 1 };
      act();
      return { copies: 0 };
    },
  };
};

describe('every single message lost once', () => {
  test.each(rows)('changes no end, and calls no human that would not have been called: %s', async (_name, scenario) => {
    const calm = await worldAfter(scenario, {});
    const expected = await endOf(calm, scenario);
    for (let index = 1; index <= calm.bus.published.length; index += 1) {
      const world = await worldAfter(scenario, { route: routeAt(index, () => undefined) ?? inOrder });
      expect(await endOf(world, scenario)).toEqual(expected);
      expect(brokenIn(await world.events())).toEqual([]);
    }
  });
});

describe('the broker loses all that it has, at each point', () => {
  test.each(rows)('changes no end, and calls no human that would not have been called: %s', async (_name, scenario) => {
    const calm = await worldAfter(scenario, {});
    const expected = await endOf(calm, scenario);
    for (let index = 1; index <= calm.bus.published.length; index += 1) {
      const wipe = { now: (): void => undefined };
      const world = await startWorld({ route: routeAt(index, () => wipe.now()) ?? inOrder });
      wipe.now = () => world.bus.wipe();
      await world.submit([scenario]);
      await driveToRest(world);
      expect(await endOf(world, scenario)).toEqual(expected);
    }
  });
});

const DEAF_MS = 3 * 60_000;

describe.each(Object.keys(READERS))('%s is stopped for three minutes', (reader) => {
  test.each(rows)('changes no end, and calls no human that would not have been called: %s', async (_name, scenario) => {
    const clock = { now: (): number => 0 };
    const copies = (_: Publication, to: string): number => (to === reader && clock.now() < DEAF_MS ? 0 : 1);
    const world = await startWorld({ policy: { ...faithful, copies } });
    clock.now = () => world.clock.monotonicMs();
    await world.submit([scenario]);
    await driveToRest(world);
    expect(await endOf(world, scenario)).toEqual(await endOf(await worldAfter(scenario, {}), scenario));
  });
});
