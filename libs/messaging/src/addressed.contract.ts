import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { BusWorld } from './bus.contract.ts';
import { answering, aReader, publication } from './messaging.fixture.ts';

/** What every bus promises of a publication that is meant for one reader; goes with `bus.contract.ts`. */
export const addressedContract = (open: () => Promise<BusWorld>): void => {
  describe('a publication for one reader', () => {
    let world: BusWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.close());

    test('F6: reaches that reader alone, and the failures counted before go on being counted', async () => {
      const named = answering({ name: 'svc__named', maxFailures: 3 }, () => ({ verdict: 'failed', error: 'broken' }));
      const other = aReader({ name: 'svc__other' });
      await world.bus.subscribe(named);
      await world.bus.subscribe(other);
      const only = { reader: 'svc__named', failures: 5 };
      await world.bus.publish([{ ...publication('thing_done', 'a'), only }]);
      expect(await named.dead.until((dead) => dead.length === 1)).toEqual(['a after 6: broken']);
      await world.bus.publish([publication('thing_done', 'b')]);
      await other.seen.until((seen) => seen.includes('b'));
      expect(other.seen.entries).toEqual(['b']);
      expect(named.seen.entries.filter((id) => id === 'a')).toEqual(['a']);
    });
  });
};
