import { describe, expect, test } from '@jest/globals';
import type { Verdict } from './bus.ts';
import { done, publication } from './messaging.fixture.ts';
import { failureDelay, pauseDelay, settle } from './settlement.ts';

const offer = (id: string) => publication('thing_done', id).offer;
const later = (delayMs: number): Verdict => ({ verdict: 'later', delayMs, reason: 'spec' });
const failed: Verdict = { verdict: 'failed', error: 'broken' };
const rules = { failures: 0, maxFailures: 3, failureDelayMs: (failures: number) => failures * 10 };

describe('settling a message', () => {
  test('acks it when everything is done', () => {
    const settlement = settle({ ...rules, offers: [offer('a'), offer('b')], verdicts: [done, done] });
    expect(settlement).toEqual({ nakMs: null, retries: [], dead: [] });
  });

  test('gives it back whole when nothing got on, after the longest delay asked for', () => {
    const settlement = settle({ ...rules, offers: [offer('a'), offer('b')], verdicts: [later(20), later(70)] });
    expect(settlement).toEqual({ nakMs: 70, retries: [], dead: [] });
  });

  test('takes out what is put off beside what is done, uncounted', () => {
    const settlement = settle({ ...rules, offers: [offer('a'), offer('b')], verdicts: [done, later(70)] });
    expect(settlement).toEqual({ nakMs: null, retries: [{ offer: offer('b'), failures: 0, delayMs: 70 }], dead: [] });
  });

  test('counts a failure and waits as long as that count says', () => {
    const settlement = settle({ ...rules, failures: 1, offers: [offer('a')], verdicts: [failed] });
    expect(settlement.retries).toEqual([{ offer: offer('a'), failures: 2, delayMs: 20 }]);
  });

  test('declares the last failure dead, not one before and not one after', () => {
    const settlement = settle({ ...rules, failures: 2, offers: [offer('a')], verdicts: [failed] });
    expect(settlement).toEqual({
      nakMs: null,
      retries: [],
      dead: [{ offer: offer('a'), deliveries: 3, error: 'broken' }],
    });
  });

  test('F7 declares dead at once what can never succeed', () => {
    const hopeless: Verdict = { verdict: 'failed', error: 'unreadable', isFinal: true };
    const settlement = settle({ ...rules, offers: [offer('a'), offer('b')], verdicts: [hopeless, failed] });
    expect(settlement.dead).toEqual([{ offer: offer('a'), deliveries: 1, error: 'unreadable' }]);
    expect(settlement.retries).toMatchObject([{ offer: offer('b'), failures: 1 }]);
  });
});

describe('waiting', () => {
  test('doubles with each failure from 1 s to 30 s', () => {
    expect([1, 2, 3, 4, 5, 6, 100].map(failureDelay)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  test('doubles with each throw from 250 ms to 30 s', () => {
    expect([1, 2, 7, 8, 100].map(pauseDelay)).toEqual([250, 500, 16_000, 30_000, 30_000]);
  });
});
