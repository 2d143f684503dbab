import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Feed, FeedMoved } from './feed.ts';
import { anEvent } from './messaging.fixture.ts';

/** A message as a subscriber gets it. */
export interface FedMessage {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A broker under test. */
export interface FeedWorld {
  readonly feed: Feed;
  /** The writer of another process on the same broker. */
  readonly other: Feed;
  /** All that a subscriber can read from its beginning. */
  messages(): Promise<readonly FedMessage[]>;
  /** Keeps a copy of what the broker has now. */
  backUp(): Promise<void>;
  /** Brings the copy back: what came later is lost. Resolves when the broker can be used. */
  restore(): Promise<void>;
  /** Everything is lost. Resolves when the broker can be used. */
  wipe(): Promise<void>;
  close(): Promise<void>;
}

const eventAt = (position: number, type = 'thing_done'): RecordedEvent => ({
  ...anEvent(type, `e${position}`, { position }),
  cursor: { epoch: 1, xid: '5', position: String(position) },
});

const events = (from: number, to: number): RecordedEvent[] =>
  Array.from({ length: to - from + 1 }, (_, index) => eventAt(from + index));

/** What every feed promises. Each adapter's spec calls it with a broker of its own. */
export const feedContract = (open: () => Promise<FeedWorld>): void => {
  let world: FeedWorld;
  beforeEach(async () => {
    world = await open();
  });
  afterEach(() => world.close());

  const ids = async (): Promise<string[]> => (await world.messages()).map(({ headers }) => headers['ce-id'] ?? '');

  describe('a feed', () => {
    test('is new at first, and then ends with what was written last', async () => {
      expect(world.feed.isOpen()).toBe(false);
      expect(await world.feed.open()).toEqual({ end: 'new' });
      await world.feed.append(events(1, 3), 'together');
      expect(world.feed.isOpen()).toBe(true);
      expect(await world.other.open()).toEqual({
        end: 'event',
        id: 'e3',
        stream: 'stream-e3',
        version: 1,
        cursor: { epoch: 1, xid: '5', position: '3' },
      });
    });

    test('has each event as a CloudEvent under its type, in the order it was written', async () => {
      await world.feed.open();
      await world.feed.append([eventAt(1), eventAt(2, 'thing_begun')], 'together');
      await world.feed.append([eventAt(3)], 'together');
      const messages = await world.messages();
      expect(messages.map(({ subject }) => subject.replace(/^.*(?=\.events\.)/, ''))).toEqual([
        '.events.thing_done',
        '.events.thing_begun',
        '.events.thing_done',
      ]);
      expect(messages.map(({ body }) => body)).toEqual(['{"position":1}', '{"position":2}', '{"position":3}']);
      expect(messages[1]?.headers).toMatchObject({
        'ce-specversion': '1.0',
        'ce-id': 'e2',
        'ce-type': 'fixpoint.thing_begun',
        'ce-cursor': '1.5.2',
      });
    });

    test('takes as many events at once as a page of the store has', async () => {
      await world.feed.open();
      await world.feed.append(events(1, 1_000), 'together');
      await world.feed.append(events(1_001, 1_500), 'together');
      expect(await ids()).toEqual(events(1, 1_500).map(({ id }) => id));
    });
  });

  describe('of two writers', () => {
    test('the one that was overtaken writes nothing', async () => {
      await world.feed.open();
      await world.feed.append(events(1, 2), 'together');
      await world.other.open();
      await world.other.append(events(3, 5), 'together');
      // Ids that the broker does not know: it must refuse them for their place.
      await expect(world.feed.append(events(7, 9), 'together')).rejects.toBeInstanceOf(FeedMoved);
      expect(world.feed.isOpen()).toBe(false);
      await expect(world.feed.append(events(7, 9), 'together')).rejects.toBeInstanceOf(FeedMoved);
      expect(await ids()).toEqual(['e1', 'e2', 'e3', 'e4', 'e5']);
    });

    test('N4: one that repeats what is there says so, or passes it over when it goes one by one', async () => {
      await world.feed.open();
      await world.feed.append(events(1, 3), 'together');
      await world.other.open();
      await expect(world.other.append(events(2, 4), 'together')).rejects.toBeInstanceOf(FeedMoved);
      await world.other.open();
      await world.other.append(events(2, 5), 'one_by_one');
      expect(await ids()).toEqual(['e1', 'e2', 'e3', 'e4', 'e5']);
    });
  });

  describe('on a broker that lost something', () => {
    test('N2: a writer notices, and finds a new feed where everything is gone', async () => {
      await world.feed.open();
      await world.feed.append(events(1, 3), 'together');
      await world.wipe();
      await expect(world.feed.append(events(4, 4), 'together')).rejects.toThrow();
      expect(await world.feed.open()).toEqual({ end: 'new' });
      await world.feed.append(events(1, 4), 'together');
      expect(await ids()).toEqual(['e1', 'e2', 'e3', 'e4']);
    });

    test('A5: a writer notices, and finds where the restored feed ends', async () => {
      await world.feed.open();
      await world.feed.append(events(1, 3), 'together');
      await world.backUp();
      await world.feed.open();
      await world.feed.append(events(4, 6), 'together');
      await world.restore();
      await expect(world.feed.append(events(7, 7), 'together')).rejects.toThrow();
      expect(await world.feed.open()).toMatchObject({ end: 'event', id: 'e3' });
      await world.feed.append(events(4, 7), 'together');
      expect(await ids()).toEqual(events(1, 7).map(({ id }) => id));
    });
  });
};
