import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { VIABLE } from '../queue.ts';
import { flooredDemotion, lifted } from './affinity.ts';

const ranks = fc.integer({ min: -100, max: 100 });

describe('the rank of a unit', () => {
  test('U-T05 loses ten by a failed recompose, down to the floor', () => {
    expect([10, 5, 0, -4, -5].map(flooredDemotion)).toEqual([0, -5, -5, -5, -5]);
  });

  test('U-T06 is never raised by a demotion, however low it is already', () => {
    expect([-6, -15].map(flooredDemotion)).toEqual([-6, -15]);
    fc.assert(fc.property(ranks, (rank) => expect(flooredDemotion(rank)).toBeLessThanOrEqual(rank)));
  });

  test('is dispatched after any number of failed recomposes', () => {
    fc.assert(
      fc.property(fc.integer({ min: VIABLE, max: 50 }), fc.nat(20), (start, times) => {
        let rank = start;
        for (let n = 0; n < times; n += 1) rank = flooredDemotion(rank);
        expect(rank).toBeGreaterThanOrEqual(VIABLE);
      }),
    );
  });

  test('is never lowered by a lift', () => {
    expect([lifted(-10, VIABLE), lifted(3, VIABLE)]).toEqual([-5, 3]);
    fc.assert(fc.property(ranks, ranks, (rank, to) => expect(lifted(rank, to)).toBe(Math.max(rank, to))));
  });
});
