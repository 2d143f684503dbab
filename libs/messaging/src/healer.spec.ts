import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextHealerStep } from './healer.ts';

const MINUTE = 60_000;

/** Times of all steps of an offer that is never answered, when each is taken exactly when due. */
const stepsOf = (timeoutMs: number): string[] => {
  const steps: string[] = [];
  let lastOfferMs = 0;
  for (let reoffers = 0; ; reoffers += 1) {
    const { step, atMs } = nextHealerStep({ sinceMs: 0, lastOfferMs, reoffers, timeoutMs });
    steps.push(`${step} ${atMs / 1_000}`);
    if (step === 'time_out') return steps;
    lastOfferMs = atMs;
  }
};

describe('an offer without an answer', () => {
  test('is repeated after 5 s, 30 s, 1, 2, 4 min, then every 4 min, and given up at its time-out', () => {
    expect(stepsOf(18 * MINUTE)).toEqual([
      'offer_again 5',
      'offer_again 35',
      'offer_again 95',
      'offer_again 215',
      'offer_again 455',
      'offer_again 695',
      'offer_again 935',
      'time_out 1080',
    ]);
  });

  test('is not repeated at the moment of its time-out, but just before', () => {
    expect(stepsOf(5_000)).toEqual(['time_out 5']);
    expect(stepsOf(5_001)).toEqual(['offer_again 5', 'time_out 5.001']);
  });

  test('is not repeated in a volley after a sweep that came late', () => {
    const late = nextHealerStep({ sinceMs: 0, lastOfferMs: 10 * MINUTE, reoffers: 1, timeoutMs: 60 * MINUTE });
    expect(late).toEqual({ step: 'offer_again', atMs: 10 * MINUTE + 30_000 });
  });

  test('always ends, never before its time-out and never after it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 24 * 60 * MINUTE }), (timeoutMs) => {
        expect(stepsOf(timeoutMs).at(-1)).toBe(`time_out ${timeoutMs / 1_000}`);
      }),
    );
  });
});
