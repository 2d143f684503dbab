import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { describe, expect, test } from '@jest/globals';
import { driveToRest } from './drive.ts';
import { brokenIn } from './invariants.ts';
import type { Scenario } from './scenario.ts';
import { scenarioNamed } from './scenarios.ts';
import { storiesOf } from './story.ts';
import { startWorld, type World } from './world.ts';

const { task, protocol, end } = scenarioNamed('network-comes-back');
const HOST = 'https://git.invalid/colours';
const LINEAGES = 20;

/** Lineages that all begin with the same host, which does not answer so many times. */
const fetching = (times: number): Scenario[] =>
  Array.from({ length: LINEAGES }, (_, index) => ({
    ...{ name: `fetch-${index}`, task, end },
    ...(protocol !== undefined && { protocol }),
    outages: { [HOST]: times },
  }));

const worldAfter = async (times: number): Promise<World> => {
  const world = await startWorld();
  await world.submit(fetching(times));
  await driveToRest(world);
  return world;
};

const ofProvider = (events: readonly RecordedEvent[]): RecordedEvent[] =>
  events.filter(({ stream }) => stream === 'provider-git.git.invalid');

const countOf = (events: readonly RecordedEvent[], type: string): number =>
  events.filter((event) => event.type === type).length;

describe('twenty lineages whose host is dead for a while', () => {
  test.each([LINEAGES, LINEAGES + 3])('A15 pause it together, and all are done when it is back: %d', async (times) => {
    const world = await worldAfter(times);
    const events = await world.events();
    const endings = [...storiesOf(events).values()].map(({ ending }) => ending.status);
    expect(endings).toEqual(Array.from({ length: LINEAGES }, () => 'satisfied'));
    expect(brokenIn(events)).toEqual([]);
    expect(countOf(events, 'human_required')).toBe(0);
    expect(countOf(events, 'fault_recorded')).toBe(times);
    const pauses = ofProvider(events).filter(({ type }) => type === 'provider_paused');
    expect(pauses.map(({ data }) => (data as { count: number }).count)).toEqual(
      Array.from({ length: times - LINEAGES + 1 }, (_, index) => index + 1),
    );
    expect(countOf(events, 'provider_probed')).toBe(pauses.length);
    expect(countOf(events, 'provider_resumed')).toBe(1);
  });
});
