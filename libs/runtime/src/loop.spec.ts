import { simulatedClock } from '@fixpoint/testing/simulated-clock';
import { describe, expect, test } from '@jest/globals';
import { silentLog } from './log.ts';
import { type LoopStep, loop } from './loop.ts';

const started = (step: LoopStep) => {
  const clock = simulatedClock();
  const background = loop('sweep', step, { clock, log: silentLog });
  background.onApplicationBootstrap();
  return { clock, background };
};

const stopped = async ({ background }: ReturnType<typeof started>): Promise<void> => {
  background.onModuleDestroy();
  await background.beforeApplicationShutdown();
};

describe('a loop', () => {
  test('runs one round after the other and ends in the middle of a wait', async () => {
    let rounds = 0;
    const clock = simulatedClock();
    const background = loop(
      'sweep',
      async (signal) => {
        rounds += 1;
        await clock.sleep(1_000, signal);
      },
      { clock, log: silentLog },
    );
    background.onApplicationBootstrap();
    await clock.advance(2_500);
    background.onModuleDestroy();
    await background.beforeApplicationShutdown();
    expect(rounds).toBe(3);
  });

  test('tries a failed round again later, and is not healthy until one succeeds', async () => {
    let rounds = 0;
    const running = started(async (signal) => {
      rounds += 1;
      if (rounds < 3) throw new Error('no connection');
      await running.clock.sleep(60_000, signal);
    });
    await running.clock.advance(0);
    expect(await running.background.health.state()).toEqual({
      name: 'loop sweep',
      healthy: false,
      detail: 'no connection',
    });
    await running.clock.advance(199);
    expect(rounds).toBe(1);
    await running.clock.advance(1 + 400);
    expect(rounds).toBe(3);
    await running.clock.advance(60_000);
    expect(await running.background.health.state()).toMatchObject({ healthy: true });
    await stopped(running);
  });

  test('awaits the round in hand when it stops', async () => {
    const work = Promise.withResolvers<void>();
    const running = started(() => work.promise);
    let isOver = false;
    const over = stopped(running).then(() => {
      isOver = true;
    });
    await running.clock.advance(0);
    expect(isOver).toBe(false);
    work.resolve();
    await over;
  });
});
