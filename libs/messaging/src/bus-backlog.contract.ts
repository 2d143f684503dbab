import { eventually } from '@fixpoint/testing/eventually';
import { expect, test } from '@jest/globals';
import type { Bus } from './bus.ts';
import { aReader, done, publication } from './messaging.fixture.ts';

/** What every bus promises of the backlog of a reader. @param open a bus with nothing on it; the spec closes it. */
export const backlogContract = (open: () => Promise<Bus>): void => {
  test('the backlog of a reader is what was published and not acked, what is in hand included', async () => {
    const bus = await open();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const subscription = await bus.subscribe({
      ...aReader({ name: 'svc__reader', mode: { kind: 'pool', concurrency: 1 } }),
      handle: async (offers) => {
        await released;
        return offers.map(() => done);
      },
    });
    expect(await subscription.backlog()).toBe(0);
    for (const id of ['a', 'b', 'c']) await bus.publish([publication('thing_done', id)]);
    await eventually('all three wait', async () => (await subscription.backlog()) === 3);
    release();
    await eventually('none waits', async () => (await subscription.backlog()) === 0);
  });
};
