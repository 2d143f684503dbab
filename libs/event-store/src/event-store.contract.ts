import { CURSOR_START, type Cursor, compareCursors, type RecordedEvent } from '@fixpoint/contracts/envelope';
import { allVisible } from '@fixpoint/testing/all-visible';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AppendOutcome, EventStore } from './event-store.ts';
import { eventHash } from './hash.ts';
import { appendOf, event } from './store-events.fixture.ts';

export interface StoreUnderTest {
  readonly store: EventStore;
  /** The same events through another process' eyes; may be the same object where there is only one process. */
  readonly other: EventStore;
  close(): Promise<void>;
}

const kinds = (outcomes: readonly AppendOutcome[]): string[] =>
  outcomes.map((outcome) => (outcome.outcome === 'rejected' ? outcome.code : outcome.outcome));

const versions = (events: readonly RecordedEvent[]): number[] => events.map(({ version }) => version);

const everything = async (store: EventStore, limit = 100): Promise<RecordedEvent[]> => {
  await allVisible(store);
  const all: RecordedEvent[] = [];
  for (let after: Cursor = CURSOR_START; ; ) {
    const page = await store.readAll(after, limit);
    if (page.events.length === 0) return all;
    all.push(...page.events);
    after = page.next;
  }
};

/**
 * What every event store promises. The store starts empty, takes `task_submitted` and `node_ready`, and refuses the
 * type `never_allowed`.
 */
export const eventStoreContract = (name: string, open: () => Promise<StoreUnderTest>): void => {
  describe(`${name} as an event store`, () => {
    let under: StoreUnderTest;
    let store: EventStore;
    let count = 0;
    /** A stream that no other test uses. */
    const fresh = (): string => {
      count += 1;
      return `spec-${count}`;
    };
    const decided = (stream: string, version: number, ...causes: string[]) =>
      store.append(appendOf(stream, version, ...causes));

    beforeAll(async () => {
      under = await open();
      store = under.store;
    });
    afterAll(() => under.close());

    describe('appending', () => {
      test('gives back what was stored, with its place', async () => {
        const stream = fresh();
        const outcome = await store.append(appendOf(stream, 0, 'a.0', 'a.1'));
        expect(outcome).toMatchObject({
          outcome: 'appended',
          events: [
            { ...event(stream, 'a.0'), stream, root: stream, version: 1 },
            { ...event(stream, 'a.1'), stream, root: stream, version: 2 },
          ],
        });
        expect(await store.readStream(stream)).toEqual(outcome.outcome === 'appended' ? outcome.events : null);
      });

      test('S-T106: numbers a stream without gaps, also when another process goes on with it', async () => {
        const stream = fresh();
        await decided(stream, 0, 'a.0', 'a.1', 'a.2');
        await under.other.append(appendOf(stream, 3, 'b.0', 'b.1'));
        expect(versions(await store.readStream(stream))).toEqual([1, 2, 3, 4, 5]);
      });

      test('a stale writer is told so, and nothing of its batch stays', async () => {
        const stream = fresh();
        await decided(stream, 0, 'a.0', 'a.1');
        expect(await decided(stream, 0, 'b.0', 'b.1', 'b.2', 'b.3', 'b.4')).toEqual({ outcome: 'conflict' });
        expect(await decided(stream, 1, 'c.0', 'c.1', 'c.2', 'c.3', 'c.4')).toEqual({ outcome: 'conflict' });
        expect(versions(await store.readStream(stream))).toEqual([1, 2]);
      });

      test('a writer ahead of the stream is refused too', async () => {
        const stream = fresh();
        expect(await decided(stream, 1, 'a')).toEqual({ outcome: 'conflict' });
        await decided(stream, 0, 'a');
        expect(await decided(stream, 2, 'b')).toEqual({ outcome: 'conflict' });
        expect(versions(await store.readStream(stream))).toEqual([1]);
      });

      test('P22 S-T105: of many writers at one version, in two processes, exactly one wins', async () => {
        const stream = fresh();
        for (let version = 0; version < 10; version += 1) {
          const outcomes = await Promise.all(
            Array.from({ length: 20 }, (_, writer) =>
              (writer % 2 === 0 ? store : under.other).append(appendOf(stream, version, `${version}.${writer}`)),
            ),
          );
          expect(kinds(outcomes).filter((kind) => kind === 'appended')).toHaveLength(1);
          expect(kinds(outcomes).filter((kind) => kind === 'conflict')).toHaveLength(19);
        }
        expect(versions(await store.readStream(stream))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      });

      test('a decision that builds on one in flight is stored behind it', async () => {
        const stream = fresh();
        for (let version = 0; version < 20; version += 2) {
          const first = decided(stream, version, `${version}`);
          await new Promise(setImmediate);
          const second = decided(stream, version + 1, `${version + 1}`);
          expect(kinds(await Promise.all([first, second]))).toEqual(['appended', 'appended']);
        }
      });

      test('the same event twice is a bug that is named, and the rest of its decision does not stay', async () => {
        const stream = fresh();
        await decided(stream, 0, 'a');
        const again = [event(stream, 'b'), event(stream, 'a')];
        expect(await store.append({ stream, root: stream, expectedVersion: 1, events: again })).toMatchObject({
          outcome: 'rejected',
          code: 'duplicate_event_id',
        });
        expect(versions(await store.readStream(stream))).toEqual([1]);
      });

      test('the same event twice in one decision is refused as well', async () => {
        const stream = fresh();
        const events = [event(stream, 'a'), event(stream, 'a')];
        expect(kinds([await store.append({ stream, root: stream, expectedVersion: 0, events })])).toEqual([
          'duplicate_event_id',
        ]);
        expect(await store.readStream(stream)).toEqual([]);
      });
    });

    describe('appending many at once', () => {
      test('answers each in the order given', async () => {
        const [a, b, c] = [fresh(), fresh(), fresh()];
        await decided(b, 0, 'first');
        const outcomes = await store.appendAll([
          appendOf(c, 0, 'x'),
          appendOf(b, 0, 'x'),
          appendOf(a, 0, 'x.0', 'x.1'),
        ]);
        expect(kinds(outcomes)).toEqual(['appended', 'conflict', 'appended']);
        expect(outcomes[2]).toMatchObject({
          events: [
            { stream: a, version: 1 },
            { stream: a, version: 2 },
          ],
        });
        expect(outcomes[0]).toMatchObject({ events: [{ stream: c, version: 1 }] });
      });

      test('a conflict of one tears no other and is not torn itself', async () => {
        const [lost, won] = [fresh(), fresh()];
        await decided(lost, 0, 'first.0', 'first.1');
        const outcomes = await store.appendAll([
          appendOf(lost, 1, 'x.0', 'x.1', 'x.2'),
          appendOf(won, 0, 'x.0', 'x.1', 'x.2'),
        ]);
        expect(kinds(outcomes)).toEqual(['conflict', 'appended']);
        expect(versions(await store.readStream(lost))).toEqual([1, 2]);
        expect(versions(await store.readStream(won))).toEqual([1, 2, 3]);
      });

      test('decisions of one stream that build on each other are all stored', async () => {
        const stream = fresh();
        const outcomes = await store.appendAll([
          appendOf(stream, 0, 'a.0', 'a.1'),
          appendOf(stream, 2, 'b'),
          appendOf(stream, 3, 'c.0', 'c.1'),
        ]);
        expect(kinds(outcomes)).toEqual(['appended', 'appended', 'appended']);
        expect(outcomes[2]).toMatchObject({ events: [{ version: 4 }, { version: 5 }] });
      });

      test('when the first of them loses, those that build on it lose too', async () => {
        const stream = fresh();
        await decided(stream, 0, 'first');
        const outcomes = await store.appendAll([appendOf(stream, 0, 'a.0', 'a.1'), appendOf(stream, 2, 'b')]);
        expect(kinds(outcomes)).toEqual(['conflict', 'conflict']);
        expect(versions(await store.readStream(stream))).toEqual([1]);
      });

      test('two decisions on the same version of one stream: one wins', async () => {
        const stream = fresh();
        const outcomes = await store.appendAll([appendOf(stream, 0, 'a.0', 'a.1'), appendOf(stream, 0, 'b')]);
        expect(kinds(outcomes)).toEqual(['appended', 'conflict']);
      });

      test.each([
        ['a type that may not be written', { type: 'never_allowed' }, 'type_not_allowed'],
        ['F7: an event over 64 KiB, be it 10 MB,', { data: { text: 'x'.repeat(10_000_000) } }, 'event_too_large'],
        ['a number that would not come back', { data: { n: 2 ** 53 } }, 'not_storable'],
        ['a value that is not JSON', { data: { at: new Date(0) } }, 'not_storable'],
        ['a type that a text column refuses', { type: 'task\0' }, 'not_storable'],
      ])('%s stands alone while the others are stored', async (_name, change, code) => {
        const streams = Array.from({ length: 9 }, fresh);
        const appends = streams.map((stream, index) =>
          index === 4
            ? {
                stream,
                root: stream,
                expectedVersion: 0,
                events: [event(stream, 'good'), event(stream, 'bad', change)],
              }
            : appendOf(stream, 0, 'good'),
        );
        const expected = streams.map((_, index) => (index === 4 ? code : 'appended'));
        expect(kinds(await store.appendAll(appends))).toEqual(expected);
        expect(await store.readStream(streams[4] ?? '')).toEqual([]);
      });

      test('several bad ones are each named', async () => {
        const streams = Array.from({ length: 16 }, fresh);
        await decided(streams[3] ?? '', 0, 'first');
        const appends = streams.map((stream, index) => {
          if (index === 3) return { ...appendOf(stream, 1, 'first'), events: [event(stream, 'first')] };
          if (index === 12)
            return { ...appendOf(stream, 0, 'x'), events: [event(stream, 'x', { type: 'never_allowed' })] };
          return appendOf(stream, 0, 'x');
        });
        const expected = streams.map(() => 'appended');
        expected[3] = 'duplicate_event_id';
        expected[12] = 'type_not_allowed';
        expect(kinds(await store.appendAll(appends))).toEqual(expected);
      });

      test('batches over the same streams in opposite order neither deadlock nor tear', async () => {
        const streams = Array.from({ length: 12 }, fresh);
        for (let round = 0; round < 10; round += 1) {
          const batch = (writer: string, order: readonly string[]) =>
            order.map((stream) => appendOf(stream, round * 2, `${round}.${writer}.0`, `${round}.${writer}.1`));
          const [forth, back] = await Promise.all([
            store.appendAll(batch('forth', streams)),
            under.other.appendAll(batch('back', streams.toReversed())),
          ]);
          for (const [index, outcome] of forth.entries()) {
            expect(kinds([outcome, back[streams.length - 1 - index] ?? outcome]).sort()).toEqual([
              'appended',
              'conflict',
            ]);
          }
        }
      });
    });

    describe('reading streams', () => {
      test('an unknown stream is empty', async () => {
        expect(await store.readStream('nobody-wrote-this')).toEqual([]);
      });

      test('begins and ends at the versions asked for, inclusive', async () => {
        const stream = fresh();
        await decided(stream, 0, 'a.0', 'a.1', 'a.2', 'a.3');
        const read = [store.readStream(stream, 3), store.readStream(stream, 2, 3), store.readStream(stream, 5)];
        expect((await Promise.all(read)).map(versions)).toEqual([[3, 4], [2, 3], []]);
      });

      test('finds one event by its id, and nothing where there is none', async () => {
        const stream = fresh();
        await decided(stream, 0, 'found.0', 'found.1');
        expect([await under.other.find(event(stream, 'found.1').id)]).toEqual(await store.readStream(stream, 2));
        for (const none of [event(stream, 'found.9').id, 'no id']) expect(await store.find(none)).toBeNull();
      });

      test('gives many at once, the empty ones too', async () => {
        const [a, b] = [fresh(), fresh()];
        await decided(a, 0, 'a.0', 'a.1');
        const read = await store.readStreams([a, b]);
        expect([...read].map(([stream, events]) => [stream, versions(events)])).toEqual([
          [a, [1, 2]],
          [b, []],
        ]);
      });

      test('P16, P17: any storable value comes back as it was, and its hash is that of the stored bytes', async () => {
        const text = fc.string({
          unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
          maxLength: 20,
        });
        const data = fc.dictionary(
          text,
          fc.oneof(text, fc.maxSafeInteger(), fc.boolean(), fc.constant(null), fc.array(text)),
          { maxKeys: 5 },
        );
        await fc.assert(
          fc.asyncProperty(data, async (value) => {
            const stream = fresh();
            const plain: unknown = JSON.parse(JSON.stringify(value));
            const events = [event(stream, 'a', { data: plain })];
            expect(kinds([await store.append({ stream, root: stream, expectedVersion: 0, events })])).toEqual([
              'appended',
            ]);
            expect((await store.readStream(stream))[0]?.data).toEqual(plain);
          }),
          { numRuns: 30 },
        );
      });

      test('P16: NUL and lone surrogates come back as they were', async () => {
        const stream = fresh();
        const data = { 'key\0\ud800': 'a\0b\udc00c😀' };
        await store.append({ stream, root: stream, expectedVersion: 0, events: [event(stream, 'a', { data })] });
        expect((await store.readStream(stream))[0]).toMatchObject({ data });
      });

      test('P17: the hash is the one over the canonical texts', async () => {
        const stream = fresh();
        const events = [event(stream, 'a', { data: { b: '\0', a: 1 } })];
        await store.append({ stream, root: stream, expectedVersion: 0, events });
        const [read] = await store.readStream(stream);
        const metadata = `{"actor":"local","causation_id":"a","correlation_id":"${stream}","producer":"spec__append"}`;
        const parts = { stream, version: 1, id: events[0]?.id ?? '', type: 'task_submitted', schemaVersion: 1 };
        const occurredAt = '2026-01-02T03:04:05.006Z';
        const hash = eventHash({ ...parts, occurredAt, metadata, data: '{"a":1,"b":"\\u0000"}' });
        expect(read?.hash).toBe(hash.toString('hex'));
      });
    });

    describe('reading everything', () => {
      test('gives every event once, in cursor order, each stream in version order', async () => {
        const streams = Array.from({ length: 10 }, fresh);
        await Promise.all(
          streams.map(async (stream) => {
            for (let version = 0; version < 5; version += 1) await decided(stream, version, `v${version}`);
          }),
        );
        const all = await everything(store, 7);
        expect(
          all.every(
            (next, index) => index === 0 || compareCursors(all[index - 1]?.cursor ?? CURSOR_START, next.cursor) < 0,
          ),
        ).toBe(true);
        for (const stream of streams) {
          expect(versions(all.filter((read) => read.stream === stream))).toEqual([1, 2, 3, 4, 5]);
        }
      });

      test('A7: a reader beside many writers skips nothing', async () => {
        await allVisible(store);
        const start = (await store.watermark()).visible;
        const streams = Array.from({ length: 150 }, fresh);
        const writing = Promise.all(streams.map((stream) => decided(stream, 0, 'a.0', 'a.1')));
        const seen: string[] = [];
        for (let after = start; seen.length < 300; ) {
          const page = await store.readAll(after, 10);
          if (page.events.length === 0) await store.changed(20, AbortSignal.timeout(20));
          seen.push(...page.events.map(({ stream, version }) => `${stream}/${version}`));
          after = page.next;
        }
        await writing;
        expect(new Set(seen)).toEqual(new Set(streams.flatMap((stream) => [`${stream}/1`, `${stream}/2`])));
        expect(seen).toHaveLength(300);
      });

      test('an empty page goes on where it was asked', async () => {
        const end = (await everything(store)).at(-1)?.cursor ?? CURSOR_START;
        expect(await store.readAll(end, 10)).toEqual({ events: [], next: end });
      });

      test('P23 a page holds about 4 MiB at most, and goes on behind it', async () => {
        const stream = fresh();
        await allVisible(store);
        const start = (await store.watermark()).visible;
        const data = { text: 'x'.repeat(60_000) };
        const events = Array.from({ length: 100 }, (_, index) => event(stream, `big.${index}`, { data }));
        await store.append({ stream, root: stream, expectedVersion: 0, events });
        await allVisible(store);
        const page = await store.readAll(start, 1000);
        expect(page.events.length).toBeGreaterThan(60);
        expect(page.events.length).toBeLessThan(72);
        const rest = await store.readAll(page.next, 1000);
        expect(versions([...page.events, ...rest.events])).toEqual(
          Array.from({ length: 100 }, (_, index) => index + 1),
        );
      });
    });

    describe('waiting for a change', () => {
      test('ends when something was appended', async () => {
        const waiting = store.changed(60_000, new AbortController().signal);
        await decided(fresh(), 0, 'a');
        await waiting;
      });

      test('ends when it was told to stop, before or meanwhile', async () => {
        const stop = new AbortController();
        const waiting = store.changed(60_000, stop.signal);
        stop.abort();
        await waiting;
        await store.changed(60_000, stop.signal);
      });

      test('ends after its time', async () => {
        await store.changed(1, new AbortController().signal);
      });
    });
  });
};
