import type { Reader } from '@fixpoint/messaging/bus';
import { simulatedClock } from '@fixpoint/testing/simulated-clock';
import { describe, expect, test } from '@jest/globals';
import { simulatedProcess } from './simulated-process.ts';

type Handle = Reader['handle'];

/** A process with one reader, and what the bus would call. */
const processWith = async (handle: (sleep: (ms: number) => Promise<void>) => Promise<void>) => {
  const clock = simulatedClock();
  const process = simulatedProcess('one', clock, () => undefined);
  let deliver: Handle | undefined;
  const bus = {
    subscribe: async (reader: Reader) => {
      deliver = reader.handle;
      return { healthy: () => true, backlog: async () => 0, drain: async () => undefined };
    },
  };
  const reader = { name: 'r', handle: () => handle((ms) => process.commandClock.sleep(ms)).then(() => []) };
  await process.subscribe(bus as never, reader as never);
  return { clock, process, deliver: () => deliver?.([], process.undisturbed) };
};

describe('a process of a simulated world', () => {
  test('is at work while its handler is, and at rest while that sleeps', async () => {
    const { clock, process, deliver } = await processWith((sleep) => sleep(1_000));
    const handled = deliver();
    expect([process.busy(), process.asleep()]).toEqual([0, 1]);
    await clock.advance(1_000);
    await handled;
    expect([process.busy(), process.asleep()]).toEqual([0, 0]);
  });

  test('is neither when what its handler asked sleeps on after the handler has come back', async () => {
    const { process, deliver } = await processWith(async (sleep) => void sleep(1_000));
    await deliver();
    expect([process.busy(), process.asleep()]).toEqual([0, 0]);
  });

  test('is at work when one handler sleeps and another one does not', async () => {
    let calls = 0;
    const { process, deliver } = await processWith((sleep) => {
      calls += 1;
      return calls === 1 ? sleep(1_000) : new Promise(() => undefined);
    });
    void deliver();
    void deliver();
    expect([process.busy(), process.asleep()]).toEqual([1, 1]);
  });
});
