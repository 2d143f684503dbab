import { simulatedClock } from '@fixpoint/testing/simulated-clock';
import { describe, expect, test } from '@jest/globals';
import { backoffMs, retry } from './backoff.ts';

const failing = (times: number) => {
  let tries = 0;
  return async () => {
    tries += 1;
    if (tries <= times) throw new Error(`try ${tries}`);
    return tries;
  };
};

describe('back-off', () => {
  test('doubles from 200 ms to 30 s', () => {
    expect([1, 2, 3, 8, 9, 1_000].map(backoffMs)).toEqual([200, 400, 800, 25_600, 30_000, 30_000]);
  });
});

describe('a retry', () => {
  const never = new AbortController().signal;

  test('goes on until it succeeds, and tells of each failure', async () => {
    const clock = simulatedClock();
    const waits: number[] = [];
    const result = retry(failing(3), { clock, signal: never, onFailure: (_error, waitMs) => waits.push(waitMs) });
    await clock.advance(200 + 400 + 800);
    expect(await result).toBe(4);
    expect(waits).toEqual([200, 400, 800]);
  });

  test('gives up with the last error when the time is used up', async () => {
    const clock = simulatedClock();
    const result = retry(failing(9), { clock, signal: never, onFailure: () => undefined, withinMs: 600 });
    const outcome = expect(result).rejects.toThrow('try 3');
    await clock.advance(600);
    await outcome;
  });

  test('ends when it is told to', async () => {
    const clock = simulatedClock();
    const stop = new AbortController();
    const result = retry(failing(9), { clock, signal: stop.signal, onFailure: () => undefined });
    const outcome = expect(result).rejects.toThrow('enough');
    await clock.advance(0);
    stop.abort(new Error('enough'));
    await outcome;
  });
});
