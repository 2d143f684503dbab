import { describe, expect, test } from '@jest/globals';
import { type Decider, fold } from './decider.ts';
import { given } from './given.ts';
import { Refused } from './refused.ts';

type Counted = { type: 'counted'; by: number };
type Count = { by: number };

const counter: Decider<Count, Counted, number> = {
  initial: 0,
  decide: ({ by }, state) => {
    if (by < 0) throw new Refused('count_negative', String(by));
    return by === 0 || state >= 3 ? [] : [{ type: 'counted', by }];
  },
  evolve: (state, event) => (event.type === 'counted' ? state + event.by : state),
};

const counted = (by: number): Counted => ({ type: 'counted', by });

describe('decider', () => {
  test('folds a history in order', () => {
    expect(fold(counter, counter.initial, [counted(1), counted(2)])).toBe(3);
  });
});

describe('given', () => {
  test('passes when the decided facts are the expected ones', () => given(counter).when({ by: 1 }).then(counted(1)));
  test('passes when nothing was expected and nothing was decided', () =>
    given(counter, counted(3)).when({ by: 1 }).thenNothing());
  test('passes when the expected rule refused', () => given(counter).when({ by: -1 }).thenRefused('count_negative'));

  test('fails on other facts', () => {
    expect(() => given(counter).when({ by: 1 }).then(counted(2))).toThrow();
  });
  test('fails on another refusal', () => {
    expect(() => given(counter).when({ by: -1 }).thenRefused('count_unknown')).toThrow();
  });
  test('fails when a refusal was expected and facts were decided', () => {
    expect(() => given(counter).when({ by: 1 }).thenRefused('count_negative')).toThrow();
  });
});
