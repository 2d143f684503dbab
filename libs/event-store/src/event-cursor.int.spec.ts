import { CURSOR_START, type Cursor, compareCursors } from '@fixpoint/contracts/envelope';
import { cursorToken, parseCursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { allVisible } from '@fixpoint/testing/all-visible';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { PostgresEventStore } from './postgres-event-store.ts';
import { appendOf, event } from './store-events.fixture.ts';
import { type WritingSession, writingSession } from './writing-session.fixture.ts';

// A busy disk can hold a commit up for seconds.
jest.setTimeout(30_000);

describe('the cursor', () => {
  let database: TestDatabase;
  let elsewhere: TestDatabase;
  let store: PostgresEventStore;
  let sessions: WritingSession[] = [];

  const session = async (url: string, name: string): Promise<WritingSession> => {
    const opened = await writingSession(url, name);
    sessions.push(opened);
    return opened;
  };
  const seen = async (): Promise<string[]> =>
    (await store.readAll(CURSOR_START, 1000)).events.map(({ stream }) => stream);

  beforeAll(async () => {
    [database, elsewhere] = await Promise.all([testDatabase(), testDatabase()]);
    store = new PostgresEventStore({ url: database.url, role: 'fixpoint_embedded', applicationName: 'fixpoint spec' });
  });
  afterEach(async () => {
    await Promise.all(sessions.map((each) => each.close()));
    sessions = [];
  });
  afterAll(async () => {
    await store.close();
    await Promise.all([database.close(), elsewhere.close()]);
  });

  const streamsAfter = async (after: Cursor): Promise<string[]> =>
    (await store.readAll(after, 1000)).events.map(({ stream }) => stream);

  test('A6, P01: never passes an append that commits late', async () => {
    const slow = await session(database.url, 'slow writer');
    await slow.begin('late', 'a');
    await store.append(appendOf('early', 0, 'a'));
    const before = await store.readAll(CURSOR_START, 1000);
    expect(before.events).toEqual([]);
    await slow.end('commit');
    await allVisible(store);
    expect(await streamsAfter(before.next)).toEqual(['late', 'early']);
  });

  test('P02: does not stop at an append that was rolled back', async () => {
    const slow = await session(database.url, 'slow writer');
    await slow.begin('undone', 'a');
    await store.append(appendOf('kept', 0, 'a'));
    await slow.end('rollback');
    await allVisible(store);
    expect(await seen()).toEqual(['late', 'early', 'kept']);
  });

  test('P03: goes by transaction and position; a position that is lower may come later', async () => {
    const start = (await store.watermark()).newest;
    const [blocker, slow] = [await session(database.url, 'blocker'), await session(database.url, 'waiting writer')];
    await blocker.begin('z blocked', 'a');
    // The first of its streams gives it a transaction id; then it waits for the second, and has no positions yet.
    const waiting = slow.beginAll(['a free', 'z blocked']);
    const onlooker = await session(database.url, 'onlooker');
    await eventually('the slow writer waits', async () => {
      const { rowCount } = await onlooker.client.query(
        `select from pg_stat_activity where application_name = 'waiting writer' and wait_event_type = 'Lock'
         and datname = current_database() and backend_xid is not null`,
      );
      return rowCount === 1;
    });
    await store.append(appendOf('quick', 0, 'a'));
    await blocker.end('rollback');
    await waiting;
    await slow.end('commit');
    await allVisible(store);
    const { events } = await store.readAll(start, 1000);
    expect(events.map(({ stream }) => stream)).toEqual(['a free', 'z blocked', 'quick']);
    expect(Number(events[1]?.cursor.position)).toBeGreaterThan(Number(events[2]?.cursor.position));
    expect(await streamsAfter(events[1]?.cursor ?? start)).toEqual(['quick']);
    const [first] = (await store.readAll(start, 1)).events;
    expect(first?.stream).toBe('a free');
  });

  test('P06: does not miss an append that is open right behind its place', async () => {
    await store.append(appendOf('at the place', 0, 'a'));
    await allVisible(store);
    const place = (await store.watermark()).newest;
    const slow = await session(database.url, 'slow writer');
    await slow.begin('right behind', 'a');
    await store.append(appendOf('farther on', 0, 'a'));
    expect(await streamsAfter(place)).toEqual([]);
    await slow.end('commit');
    await allVisible(store);
    expect(await streamsAfter(place)).toEqual(['right behind', 'farther on']);
  });

  test('P11: writers of different streams of one type do not wait for each other', async () => {
    const slow = await session(database.url, 'slow writer');
    await slow.begin('held open', 'a');
    expect(await store.append(appendOf('beside it', 0, 'a'))).toMatchObject({ outcome: 'appended' });
    await slow.end('commit');
  });

  test('P18: positions beyond 2^53 are told exactly', async () => {
    await allVisible(store);
    const start = (await store.watermark()).newest;
    const { client } = await session(database.url, 'superuser');
    await client.query(`select setval('store.event_position_seq', 9007199254740992)`);
    await store.append(appendOf('far', 0, 'a', 'b', 'c'));
    await allVisible(store);
    const { events, next } = await store.readAll(start, 2);
    expect(events.map(({ cursor }) => cursor.position)).toEqual(['9007199254740993', '9007199254740994']);
    expect((await store.readAll(next, 2)).events.map(({ cursor }) => cursor.position)).toEqual(['9007199254740995']);
    expect(parseCursorToken(cursorToken(next))).toEqual(next);
  });

  test('P29: order is that of places, whatever the times say', async () => {
    await allVisible(store);
    const start = (await store.watermark()).newest;
    const { client } = await session(database.url, 'superuser');
    const decidedAt = (stream: string, occurredAt: string) => ({
      ...appendOf(stream, 0, 'a'),
      events: [event(stream, 'a', { occurred_at: occurredAt })],
    });
    await store.append(decidedAt('told later', '2030-01-01T00:00:00.000Z'));
    await store.append(decidedAt('told earlier', '2020-01-01T00:00:00.000Z'));
    await allVisible(store);
    expect(await streamsAfter(start)).toEqual(['told later', 'told earlier']);
    // Both of one transaction have one time; only their places tell them apart.
    await store.append(appendOf('at one time', 0, 'a', 'b'));
    const { rows } = await client.query(
      `select count(distinct recorded_at)::int as times, count(distinct position)::int as places from store.event
       where stream = 'at one time'`,
    );
    expect(rows).toEqual([{ times: 1, places: 2 }]);
  });

  test.each([
    ['this database', () => database.url],
    ['another database of the same server', () => elsewhere.url],
  ])('A9, P04: waits for a writing transaction in %s, and the watermark names its session', async (place, url) => {
    const { client: holder } = await session(url(), `holder in ${place}`);
    await holder.query('begin');
    await holder.query('select pg_current_xact_id()');
    await store.append(appendOf(`behind ${place}`, 0, 'a'));
    expect(await seen()).not.toContain(`behind ${place}`);
    const name = `holder in ${place}`.slice(0, 63);
    const { pid } = (await holder.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0] ?? {};
    // Another test of this server may hold it back for a moment, too.
    const held = await eventually(`${name} holds the watermark`, async () => {
      const now = await store.watermark();
      return now.holder?.pid === pid && now.ageMs > 50 ? now : null;
    });
    expect(held.holder).toMatchObject({ application: name, state: 'idle in transaction', user: 'postgres' });
    expect(held.holder?.database).toBe(new URL(url()).pathname.slice(1));
    expect(Date.parse(held.holder?.since ?? '')).toBeLessThanOrEqual(Date.now());
    expect(compareCursors(held.visible, held.newest)).toBeLessThan(0);
    await holder.query('commit');
    await allVisible(store);
    expect(await seen()).toContain(`behind ${place}`);
    const { visible, newest } = await store.watermark();
    expect(visible).toEqual(newest);
  });

  test('P04: does not wait for a transaction that only reads', async () => {
    const { client: reader } = await session(database.url, 'reader');
    await reader.query('begin isolation level repeatable read');
    await reader.query('select count(*) from store.event');
    await store.append(appendOf('beside a reader', 0, 'a'));
    await allVisible(store);
    expect(await seen()).toContain('beside a reader');
  });
});
