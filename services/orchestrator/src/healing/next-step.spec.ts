import { describe, expect, test } from '@jest/globals';
import { healStep } from './next-step.ts';

const AT = Date.parse('2026-01-01T00:00:00.000Z');
const iso = (ms: number): string => new Date(AT + ms).toISOString();
const row = (lastOfferMs = 0, reoffers = 0) => ({ since: iso(0), last_offer: iso(lastOfferMs), reoffers });

describe('the healer', () => {
  test('waits until the schedule says so', () => {
    expect(healStep(row(), 600_000, AT + 4_999)).toMatchObject({
      step: 'wait',
      next: { next_at: iso(5_000), reoffers: 0 },
    });
  });

  test('offers again and says when it looks next', () => {
    expect(healStep(row(), 600_000, AT + 5_000)).toEqual({
      step: 'offer',
      next: { reoffers: 1, last_offer: iso(5_000), next_at: iso(35_000) },
    });
  });

  test('asks once more before it gives anybody up', () => {
    expect(healStep(row(95_000, 3), 120_000, AT + 200_000)).toEqual({
      step: 'offer',
      next: { reoffers: 4, last_offer: iso(200_000), next_at: iso(230_000) },
    });
  });

  test('gives up when the last call was not answered either', () => {
    expect(healStep(row(200_000, 4), 120_000, AT + 230_000)).toEqual({ step: 'give_up' });
  });

  test('leaves time for an answer to the last call', () => {
    expect(healStep(row(200_000, 4), 120_000, AT + 201_000)).toMatchObject({
      step: 'wait',
      next: { next_at: iso(230_000) },
    });
  });

  test('counts no silence during an outage as an answer not given', () => {
    expect(healStep(row(), 120_000, AT + 86_400_000)).toMatchObject({ step: 'offer' });
    expect(healStep(row(95_000, 3), 120_000, AT + 86_400_000)).toMatchObject({ step: 'offer' });
  });

  test('never gives up waiting for this service itself', () => {
    expect(healStep(row(86_400_000, 99), Number.POSITIVE_INFINITY, AT + 86_640_000)).toMatchObject({ step: 'offer' });
  });
});
