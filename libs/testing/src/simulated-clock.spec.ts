import { describe, expect, test } from '@jest/globals';
import { simulatedClock } from './simulated-clock.ts';

describe('a simulated clock', () => {
  test('stands still until it is moved', async () => {
    const clock = simulatedClock('2026-05-01T00:00:00.000Z');
    expect(clock.now().toISOString()).toBe('2026-05-01T00:00:00.000Z');
    await clock.advance(1_500);
    expect(clock.now().toISOString()).toBe('2026-05-01T00:00:01.500Z');
    expect(clock.monotonicMs()).toBe(1_500);
  });

  test('wakes sleepers in order, those that sleep again included', async () => {
    const clock = simulatedClock();
    const woken: string[] = [];
    const sleeper = async (name: string, ms: number) => {
      await clock.sleep(ms);
      woken.push(`${name} at ${clock.monotonicMs()}`);
    };
    const late = sleeper('late', 30);
    const twice = sleeper('twice', 10).then(() => sleeper('twice', 10));
    expect(clock.nextWakeMs()).toBe(10);
    await clock.advance(30);
    await Promise.all([late, twice]);
    expect(woken).toEqual(['twice at 10', 'twice at 20', 'late at 30']);
    expect(clock.nextWakeMs()).toBeNull();
  });

  test('does not wake a sleeper early', async () => {
    const clock = simulatedClock();
    let isAwake = false;
    const sleep = clock.sleep(10).then(() => {
      isAwake = true;
    });
    await clock.advance(9);
    expect(isAwake).toBe(false);
    await clock.advance(1);
    await sleep;
  });

  test('wakes a sleeper whose signal aborts', async () => {
    const clock = simulatedClock();
    const stop = new AbortController();
    const sleep = clock.sleep(1_000, stop.signal);
    stop.abort();
    await sleep;
    expect(clock.nextWakeMs()).toBeNull();
  });
});
