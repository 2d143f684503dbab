import { describe, expect, test } from '@jest/globals';
import type { JetStreamManager } from '@nats-io/jetstream';
import { Journal } from './messaging.fixture.ts';
import { type StallWatchOptions, watchForStall } from './stall-watch.ts';

/** Writes down what is asked of the server. */
const server = (waiting: number, asked: Journal<string>) =>
  ({
    consumers: {
      info: async () => {
        asked.add('info');
        return { num_pending: waiting };
      },
      delete: async () => {
        asked.add('delete');
        return true;
      },
    },
  }) as unknown as JetStreamManager;

const watched = (pull: Pick<StallWatchOptions['pull'], 'isOpen' | 'received'>, waiting: number) => {
  const asked = new Journal<string>();
  const stalls = new Journal<string>();
  const end = watchForStall({
    pull: pull as StallWatchOptions['pull'],
    manager: server(waiting, asked),
    stream: 'WORK',
    durable: 'svc__reader',
    lookEveryMs: 5,
    onStalled: () => stalls.add('stalled'),
  });
  return { asked, stalls, end };
};

describe('watching a consumer', () => {
  test('N22: never asks the server about one that delivers', async () => {
    const looks = new Journal<string>();
    let received = 0;
    const delivering = {
      isOpen: true,
      get received() {
        looks.add('looked');
        received += 1;
        return received;
      },
    };
    const { asked, end } = watched(delivering, 3);
    await looks.until((all) => all.length > 30);
    end();
    expect(asked.entries).toEqual([]);
  });

  test('N16: takes two looks to give up one that is quiet although messages wait', async () => {
    const { asked, stalls, end } = watched({ isOpen: true, received: 7 }, 3);
    await stalls.until((all) => all.length === 1);
    end();
    expect(asked.entries.slice(0, 3)).toEqual(['info', 'info', 'delete']);
  });

  test('leaves one alone that is quiet because nothing waits', async () => {
    const { asked, stalls, end } = watched({ isOpen: true, received: 7 }, 0);
    await asked.until((all) => all.length > 5);
    end();
    expect([asked.entries.includes('delete'), stalls.entries]).toEqual([false, []]);
  });
});
