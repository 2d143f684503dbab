import { describe, expect, jest, test } from '@jest/globals';
import { driveToRest } from './drive.ts';
import { brokenIn } from './invariants.ts';
import type { Scenario } from './scenario.ts';
import { scenarioNamed } from './scenarios.ts';
import { type Story, storiesOf } from './story.ts';
import { startWorld, type World } from './world.ts';

jest.setTimeout(60_000);

const copiesOf = (scenario: Scenario, count: number): Scenario[] =>
  Array.from({ length: count }, (_, index) => ({ ...scenario, name: `${scenario.name}-${index}` }));

/** Lets so many messages go without waiting for what they lead to, then kills every process. */
const restartAll = async (world: World, messages: number): Promise<void> => {
  for (let sent = 0; sent < messages; sent += 1) await world.bus.letGo(world.route);
  for (const process of world.processes.filter((each) => each.isAlive())) world.ground.crash(process);
  await new Promise((resolve) => setImmediate(resolve));
};

const endOf = (story: Story | undefined) => [story?.ending.status, story?.ending.fixAttempts];

describe('A13 a hundred tasks that wait, while all services are restarted five times', () => {
  test.each(['counts-in-process', 'one-node', 'one-fix'])('stay a hundred tasks: %s', async (name) => {
    const scenario = scenarioNamed(name);
    const tasks = copiesOf(scenario, 100);
    const world = await startWorld();
    await world.submit(tasks);
    for (let restart = 0; restart < 5; restart += 1) await restartAll(world, 37);
    await driveToRest(world);
    const events = await world.events();
    const stories = storiesOf(events);
    expect([...stories.keys()].sort()).toEqual(tasks.map((task) => task.name).sort());
    const { status, fixAttempts = 0 } = scenario.end;
    for (const task of tasks) expect(endOf(stories.get(task.name))).toEqual([status, fixAttempts]);
    expect(brokenIn(events)).toEqual([]);
    expect(world.processes).toHaveLength(6 * 4);
  });
});

describe('A3 every message again, each minute for ten minutes', () => {
  test('leads to nothing that was not there after the first', async () => {
    const world = await startWorld();
    await world.submit(['counts-in-process', 'one-node', 'one-fix', 'too-deep', 'hard-blocker'].map(scenarioNamed));
    await driveToRest(world);
    const first = [...world.bus.published];
    const events = await world.events();
    for (let minute = 0; minute < 10; minute += 1) {
      await world.clock.advance(60_000);
      await world.bus.publish(first);
      await driveToRest(world);
    }
    expect(await world.events()).toEqual(events);
  });
});
