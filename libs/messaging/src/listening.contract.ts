import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { BusWorld } from './bus.contract.ts';
import { answering, Journal, publication } from './messaging.fixture.ts';

/** What every bus promises to those who only listen; goes with `bus.contract.ts`. */
export const listeningContract = (open: () => Promise<BusWorld>): void => {
  describe('listening', () => {
    let world: BusWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.close());

    const publish = (...ids: string[]): Promise<void> =>
      world.bus.publish(ids.map((id) => publication('thing_done', id)));

    test('every process hears every event of its types, in each class', async () => {
      const here = new Journal<string>();
      const there = new Journal<string>();
      await world.bus.listen(['thing_done'], (offer) => here.add(offer.event.id));
      await world.other.listen(['thing_done', 'thing_begun'], (offer) => there.add(offer.event.id));
      await world.bus.publish([publication('thing_done', 'a', { workClass: 'low' }), publication('thing_begun', 'b')]);
      await there.until((heard) => heard.length === 2);
      await publish('c');
      expect(await here.until((heard) => heard.length === 2)).toEqual(['a', 'c']);
      expect(await there.until((heard) => heard.length === 3)).toEqual(['a', 'b', 'c']);
    });

    test('an offer that is tried again for one reader is heard once', async () => {
      const failing = answering({ name: 'svc__failing', maxFailures: 3 }, () => ({
        verdict: 'failed',
        error: 'broken',
      }));
      const heard = new Journal<string>();
      await world.bus.subscribe(failing);
      await world.other.listen(['thing_done'], (offer) => heard.add(offer.event.id));
      await publish('a');
      await failing.dead.until((dead) => dead.length === 1);
      await publish('b');
      expect(await heard.until((ids) => ids.includes('b'))).toEqual(['a', 'b']);
    });

    test('one that only watches learns that there was something', async () => {
      const watched = new Journal<string>();
      const watching = await world.other.watch(() => watched.add('something'));
      await publish('a');
      await watched.until((entries) => entries.length === 1);
      expect(watching.healthy()).toBe(true);
      await watching.drain(AbortSignal.abort());
      expect(watching.healthy()).toBe(false);
    });
  });
};
