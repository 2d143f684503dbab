import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { everythingTwice, firstDeliveryLost, newestFirst } from '@fixpoint/messaging/delivery-policy';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { driveToRest } from './drive.ts';
import type { Route } from './held-bus.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import { storiesOf, streamsOf } from './story.ts';
import { inOrder, startWorld, type World, type WorldOptions } from './world.ts';

// Thousands of messages; a busy machine takes its time.
jest.setTimeout(60_000);

type Events = readonly RecordedEvent[];

const worldAfter = async (options: WorldOptions, which: readonly Scenario[]): Promise<World> => {
  const world = await startWorld(options);
  await world.submit(which);
  await driveToRest(world);
  expect(world.reports).toEqual([]);
  return world;
};

const told = async (options: WorldOptions, which: readonly Scenario[]): Promise<Events> =>
  (await worldAfter(options, which)).events();

/** Who shares an executor with one that is killed is lost with it: that one is watched alone. */
const peaceful = scenarios.filter(({ name }) => name !== 'executor-is-lost');

const rows = scenarios.map((each) => [each.name, each] as const);
const alone = new Map<string, Events>();
let together: Events = [];

beforeAll(async () => {
  for (const each of scenarios) alone.set(each.name, await told({}, [each]));
  together = await told({}, peaceful);
});

/** What a scenario came to when every message arrived once and in order. */
const baseline = (name: string): Events => alone.get(name) ?? [];

describe('delivered once, in order', () => {
  test.each(rows)('%s', (name, { end }) => {
    expect(storiesOf(baseline(name)).get(name)?.ending).toEqual({ fixAttempts: 0, depth: 0, ...end });
  });

  test('a lineage is the same alone and among others', () => {
    const stories = storiesOf(together);
    for (const { name } of peaceful) expect(stories.get(name)).toEqual(storiesOf(baseline(name)).get(name));
  });
});

/** Both copies are in hand before either is answered. */
const atOnce: WorldOptions = { policy: everythingTwice };
/** The second copy comes when the first one was answered. */
const oneByOne: Route = { next: () => 0, fate: () => ({ copies: 2 }) };

describe('every message delivered twice in order', () => {
  test.each(rows)('A11 gives the same streams, copies at once: %s', async (name, scenario) => {
    expect(streamsOf(await told(atOnce, [scenario]))).toEqual(streamsOf(baseline(name)));
  });

  test.each(rows)('A11 gives the same streams, one copy after the other: %s', async (name, scenario) => {
    expect(streamsOf(await told({ route: oneByOne }, [scenario]))).toEqual(streamsOf(baseline(name)));
  });

  test('A13 gives the same streams with many lineages at once', async () => {
    expect(streamsOf(await told(atOnce, peaceful))).toEqual(streamsOf(together));
  });
});

describe.each<[string, () => WorldOptions]>([
  ['twice', () => atOnce],
  ['at the second try', () => ({ policy: firstDeliveryLost() })],
])('delivered %s', (_how, options) => {
  test('A11 does everything outside the workspace as often as once', async () => {
    const done = async (how: WorldOptions) => (await worldAfter(how, peaceful)).ground.outside;
    expect(await done(options())).toEqual(await done({}));
  });
});

const reverse: Route = { ...inOrder, next: (waiting) => waiting.length - 1 };

describe.each<[string, () => WorldOptions]>([
  ['N7 in reverse order', () => ({ route: reverse })],
  ['N7 in reverse order within each reader', () => ({ policy: newestFirst })],
  ['with every first delivery lost', () => ({ policy: firstDeliveryLost() })],
  ['in reverse order with every first delivery lost', () => ({ route: reverse, policy: firstDeliveryLost() })],
])('delivered %s', (_how, options) => {
  test.each(rows)('C9 ends in the same state, with the same counters and decisions: %s', async (name, scenario) => {
    const stories = storiesOf(await told(options(), [scenario]));
    expect(stories.get(name)).toEqual(storiesOf(baseline(name)).get(name));
  });

  test('so do many lineages at once', async () => {
    expect(storiesOf(await told(options(), peaceful))).toEqual(storiesOf(together));
  });
});
