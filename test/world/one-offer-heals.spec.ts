import { faithful } from '@fixpoint/messaging/delivery-policy';
import { publicationsOf } from '@fixpoint/messaging/publisher';
import { ORCHESTRATOR_DECIDE } from '@fixpoint/orchestrator/decide-reader';
import { describe, expect, test } from '@jest/globals';
import { deliverAll } from './drive.ts';
import { scenarioNamed } from './scenarios.ts';
import { storiesOf } from './story.ts';
import { startWorld, type World } from './world.ts';

const typesIn = async (world: World): Promise<string[]> => (await world.events()).map(({ type }) => type);

/** Nothing reaches the orchestrator until it is let hear again; nobody offers anything anew meanwhile. */
const deafWorld = async (name: string, deafTo: string) => {
  let isDeaf = true;
  const copies: typeof faithful.copies = ({ offer }, reader) =>
    isDeaf && reader === ORCHESTRATOR_DECIDE && offer.event.type === deafTo ? 0 : 1;
  const world = await startWorld({ policy: { ...faithful, copies } });
  await world.submit([scenarioNamed(name)]);
  await deliverAll(world);
  isDeaf = false;
  return world;
};

/** Offers the last event of a type again, as the healer does. */
const offerAgain = async (world: World, type: string): Promise<void> => {
  const event = (await world.events()).findLast((each) => each.type === type);
  if (event === undefined) throw new Error(`no ${type}`);
  await world.bus.publish(publicationsOf([event], null, 'again'));
  await deliverAll(world);
};

describe('every hop is done, and the orchestrator heard of none', () => {
  test.each([
    ['the judgement', 'one-node', 'post_validated', 'node_ready'],
    ['the gate', 'denied', 'governance_blocked', 'node_ready'],
    ['the council', 'never-met', 'split_decided', 'decomposition_requested'],
  ])('A1 one offer of the question brings back the answer of %s', async (_who, name, answer, question) => {
    const world = await deafWorld(name, answer);
    expect(await world.openLineages()).toHaveLength(1);
    const before = await typesIn(world);
    expect(before).toContain(answer);

    await offerAgain(world, question);
    expect(await world.openLineages()).toEqual([]);
    expect(storiesOf(await world.events()).get(name)?.ending).toMatchObject(scenarioNamed(name).end);
    expect((await typesIn(world)).slice(0, before.length)).toEqual(before);
  });
});
