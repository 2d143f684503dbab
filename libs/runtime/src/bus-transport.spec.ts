import type { Bus, Subscription } from '@fixpoint/messaging/bus';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { simulatedClock } from '@fixpoint/testing/simulated-clock';
import { describe, expect, test } from '@jest/globals';
import { BusTransport } from './bus-transport.ts';
import { silentLog } from './log.ts';
import { BusContribution } from './readers.ts';

const bus: Bus = memoryBus({ clock: simulatedClock(), report: () => undefined });

const transportOf = (subscribe: () => Promise<Subscription>) => {
  const clock = simulatedClock();
  const contribution = new BusContribution('executor__run', subscribe);
  const transport = new BusTransport(bus, [contribution], { clock, log: silentLog, drainMs: 1_000 });
  const listening = new Promise<unknown>((resolve) => transport.listen((error) => resolve(error ?? 'listening')));
  const readerState = async () => (await transport.health.at(-1)?.state())?.detail;
  return { clock, transport, listening, readerState };
};

const subscription = (drain: Subscription['drain'] = async () => undefined, healthy = () => true): Subscription => ({
  healthy,
  drain,
});

describe('the bus transport', () => {
  test('goes on asking while the bus is down, and is not ready meanwhile', async () => {
    let isDown = true;
    const { clock, listening, readerState } = transportOf(async () => {
      if (isDown) throw new Error('no servers');
      return subscription();
    });
    await clock.advance(5_000);
    expect(await readerState()).toBe('not subscribed yet');
    isDown = false;
    await clock.advance(30_000);
    expect(await listening).toBe('listening');
    expect(await readerState()).toBe('');
  });

  test('says when a reader has gone deaf', async () => {
    const { listening, readerState } = transportOf(async () => subscription(undefined, () => false));
    await listening;
    expect(await readerState()).toBe('deaf');
  });

  test('ends the asking when it is closed', async () => {
    const { clock, transport, listening } = transportOf(() => Promise.reject(new Error('no servers')));
    await clock.advance(0);
    await transport.close();
    expect(await listening).toMatchObject({ message: 'the process is stopping' });
  });

  test('N25 drains once, and waits for it', async () => {
    let drains = 0;
    const inHand = Promise.withResolvers<void>();
    const { transport, listening } = transportOf(async () =>
      subscription(async () => {
        drains += 1;
        await inHand.promise;
      }),
    );
    await listening;
    const closed = Promise.all([transport.close(), transport.close()]);
    inHand.resolve();
    await closed;
    expect(drains).toBe(1);
  });

  test('drains a reader that was being subscribed when it closed', async () => {
    const late = Promise.withResolvers<Subscription>();
    const drained = Promise.withResolvers<void>();
    const { transport, clock } = transportOf(() => late.promise);
    await clock.advance(0);
    await transport.close();
    late.resolve(subscription(async () => drained.resolve()));
    await drained.promise;
  });

  test('does not fail when a reader does not drain', async () => {
    const { transport, listening } = transportOf(async () => subscription(() => Promise.reject(new Error('late'))));
    await listening;
    await transport.close();
  });
});
