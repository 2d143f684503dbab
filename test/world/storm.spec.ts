import { audited } from '@fixpoint/auditor/projections/audited-event';
import { foldRows } from '@fixpoint/auditor/projections/fold-rows';
import { providerRules } from '@fixpoint/auditor/projections/providers';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { describe, expect, test } from '@jest/globals';
import { driveToRest, driveUntil } from './drive.ts';
import { brokenIn } from './invariants.ts';
import type { Scenario } from './scenario.ts';
import { scenarioNamed } from './scenarios.ts';
import { dataOf, storiesOf } from './story.ts';
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

const PROVIDER = 'git.git.invalid';
/** Source: docs/rules.md (Providers). */
const MOST_PAUSES = 7;

const driveToHuman = (world: World): Promise<void> =>
  driveUntil(world, async () => {
    const last = ofProvider(await world.events()).at(-1);
    return last?.type === 'provider_paused' && (last.data as { until: string | null }).until === null;
  });

const resume = (world: World): Promise<unknown> =>
  world.orchestrator().orchestrator.providers.retry(PROVIDER, { reason: 'it is back', actor: 'ann' });

/** As the auditor shows it. */
const shownIn = (events: readonly RecordedEvent[]): unknown =>
  foldRows(providerRules, new Map(), events.map(audited)).get(PROVIDER);

const ofProvider = (events: readonly RecordedEvent[]): RecordedEvent[] =>
  events.filter(({ stream }) => stream === `provider-${PROVIDER}`);

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

describe('twenty lineages whose host stays dead', () => {
  const DEAD = LINEAGES + MOST_PAUSES;

  test('A15 ask one human for it after seven pauses, and all are done when it is back and somebody says so', async () => {
    const world = await startWorld();
    await world.submit(fetching(DEAD));
    await driveToHuman(world);
    const stuck = await world.events();
    const pauses = dataOf(stuck, 'provider_paused');
    expect(pauses.map(({ count, until }) => [count, until === null])).toEqual(
      Array.from({ length: MOST_PAUSES + 1 }, (_, index) => [index + 1, index === MOST_PAUSES]),
    );
    expect(countOf(stuck, 'human_required')).toBe(0);
    expect(shownIn(stuck)).toMatchObject({ status: 'human', count: MOST_PAUSES + 1, paused_until: null });

    await resume(world);
    await driveToRest(world);
    const events = await world.events();
    expect([...storiesOf(events).values()].map(({ ending }) => ending.status)).toEqual(
      Array.from({ length: LINEAGES }, () => 'satisfied'),
    );
    expect(brokenIn(events)).toEqual([]);
    expect(countOf(events, 'human_required')).toBe(0);
    expect(countOf(events, 'fault_recorded')).toBe(DEAD);
    expect(shownIn(events)).toMatchObject({ status: 'open', asked_by: 'ann' });
  });

  test('go on asking a human when it is tried in vain, after seven pauses more', async () => {
    const world = await startWorld();
    await world.submit(fetching(DEAD + MOST_PAUSES + 1));
    await driveToHuman(world);
    await resume(world);
    await driveToHuman(world);
    const events = await world.events();
    expect(dataOf(events, 'provider_paused').filter(({ until }) => until === null)).toHaveLength(2);
    expect(countOf(events, 'human_required')).toBe(0);
    await resume(world);
    await driveToRest(world);
    const statuses = [...storiesOf(await world.events()).values()].map(({ ending }) => ending.status);
    expect(new Set(statuses)).toEqual(new Set(['satisfied']));
  });
});
