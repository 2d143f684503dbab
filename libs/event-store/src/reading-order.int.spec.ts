import { setTimeout as sleep } from 'node:timers/promises';
import { type Cursor, compareCursors, type RecordedEvent } from '@fixpoint/contracts/envelope';
import { allVisible } from '@fixpoint/testing/all-visible';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PostgresEventStore } from './postgres-event-store.ts';
import { type WritingSession, writingSession } from './writing-session.fixture.ts';

const LONG_MS = 180_000;

let database: TestDatabase;
let store: PostgresEventStore;
let sessions: readonly WritingSession[];

beforeAll(async () => {
  database = await testDatabase();
  store = new PostgresEventStore({ url: database.url, role: 'fixpoint_embedded', applicationName: 'fixpoint spec' });
  sessions = await Promise.all(
    Array.from({ length: 16 }, (_, index) => writingSession(database.url, `writer ${index}`)),
  );
});
afterAll(async () => {
  await Promise.all([store.close(), ...sessions.map((session) => session.close())]);
  await database.close();
});

const token = ({ epoch, xid, position }: Cursor): string => `${epoch}.${xid}.${position}`;

/** What is stored behind a place, in the order that every reader must see it in. */
const storedAfter = async ({ epoch, xid, position }: Cursor): Promise<string[]> => {
  const { rows } = await (sessions[0] as WritingSession).client.query<{ place: string }>(
    `select concat_ws('.', epoch, xid, position) as place from store.event where (epoch, xid, position) > ($1, $2, $3)
     order by epoch, xid, position`,
    [epoch, xid, position],
  );
  return rows.map(({ place }) => place);
};

/** A reader that keeps its place and what it was given, as a projection does. */
const readerFrom = (start: Cursor) => {
  const seen: RecordedEvent[] = [];
  let after = start;
  return {
    seen,
    /** @returns false when there was nothing. */
    poll: async (limit: number): Promise<boolean> => {
      const page = await store.readAll(after, limit);
      seen.push(...page.events);
      after = page.next;
      return page.events.length > 0;
    },
  };
};

const outOfOrder = (events: readonly RecordedEvent[]): number =>
  events.filter((event, index) => {
    const before = events[index - 1];
    return before !== undefined && compareCursors(before.cursor, event.cursor) >= 0;
  }).length;

describe('a reader beside writers that hold their transactions open', () => {
  test(
    'A6, P01, P02: 16 of them, 0 to 50 ms each, some rolled back: 20,000 events, nothing skipped, nothing out of order',
    async () => {
      // Every tenth transaction is undone; 10 events in each of the others make 20,000.
      const transactions = Array.from({ length: 2_223 }, (_, index) => index);
      const write = async (session: WritingSession): Promise<void> => {
        for (let next = transactions.shift(); next !== undefined; next = transactions.shift()) {
          await session.begin(`slow-${next}`, ...Array.from({ length: 10 }, (_, index) => `${index}`));
          // Spread evenly over the range, and the same in every run.
          await sleep((next * 7_919) % 51);
          await session.end(next % 10 === 9 ? 'rollback' : 'commit');
        }
      };
      const start = (await store.watermark()).newest;
      const reader = readerFrom(start);
      let isWriting = true;
      const reading = (async () => {
        while (isWriting) if (!(await reader.poll(500))) await sleep(1);
      })();
      await Promise.all(sessions.map(write));
      await allVisible(store);
      isWriting = false;
      await reading;
      while (await reader.poll(500));
      expect(reader.seen.length).toBeGreaterThanOrEqual(20_000);
      expect(outOfOrder(reader.seen)).toBe(0);
      expect(reader.seen.map(({ cursor }) => token(cursor))).toEqual(await storedAfter(start));
    },
    LONG_MS,
  );

  /** One thing that happens: a writer goes on (begins, then ends its transaction), or the reader looks. */
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ writer: fc.nat(5), events: fc.integer({ min: 1, max: 3 }), commits: fc.boolean() }),
    },
    { weight: 2, arbitrary: fc.record({ limit: fc.integer({ min: 1, max: 5 }) }) },
  );
  let streams = 0;

  const writing = () => {
    const open = new Set<WritingSession>();
    return {
      /** Ends the writer's transaction, or begins one. */
      goOn: async ({
        writer,
        events,
        commits,
      }: {
        writer: number;
        events: number;
        commits: boolean;
      }): Promise<void> => {
        const session = sessions[writer] as WritingSession;
        if (open.delete(session)) return session.end(commits ? 'commit' : 'rollback');
        streams += 1;
        open.add(session);
        await session.begin(`any-${streams}`, ...Array.from({ length: events }, (_, index) => `${index}`));
      },
      endAll: async (): Promise<void> => {
        for (const session of open) await session.end('commit');
      },
    };
  };

  test(
    'A7, P05: in whatever order they end and whenever the reader looks, it sees every event once and in pair order',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          await allVisible(store);
          const start = (await store.watermark()).newest;
          const reader = readerFrom(start);
          const writers = writing();
          for (const each of steps) {
            if ('limit' in each) await reader.poll(each.limit);
            else await writers.goOn(each);
          }
          await writers.endAll();
          await allVisible(store);
          while (await reader.poll(5));
          expect(outOfOrder(reader.seen)).toBe(0);
          expect(reader.seen.map(({ cursor }) => token(cursor))).toEqual(await storedAfter(start));
        }),
        { numRuns: 60 },
      );
    },
    LONG_MS,
  );
});
