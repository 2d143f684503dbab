import { readFileSync } from 'node:fs';
import { AUDITOR_MIGRATIONS } from '@fixpoint/auditor/migrations';
import { readModel } from '@fixpoint/auditor/projections/read-model';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { currentEvent } from '@fixpoint/contracts/events/current-event';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { ProjectionRunner } from '@fixpoint/event-store/projection';
import { reconcileProjection } from '@fixpoint/event-store/reconcile-projection';
import { roleDatabase } from '@fixpoint/event-store/role-database';
import type { StorePoolOptions } from '@fixpoint/event-store/store-pool';
import { parseMessage } from '@fixpoint/messaging/wire-message';
import { ORCHESTRATOR_MIGRATIONS } from '@fixpoint/orchestrator/migrations';
import { type WaitTables, waitRows } from '@fixpoint/orchestrator/waits/postgres-waits';
import { allVisible } from '@fixpoint/testing/all-visible';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Kysely, sql } from 'kysely';
import { foldedLog, goldenEvents, recordedEvents } from './folded-log.ts';

const TYPE = 'task_submitted';

/** A lineage as it was stored, and the same as it would have been stored when the deadline had another name. */
const golden = goldenEvents(readFileSync(new URL('./golden/0.1.0.jsonl', import.meta.url), 'utf8'));
const root = golden[0]?.root ?? '';
const today = recordedEvents(golden.filter((event) => event.root === root));
const long_ago = today.map((event): RecordedEvent => {
  if (event.type !== TYPE) return event;
  const { deadline_at, ...data } = event.data as { deadline_at: string };
  return { ...event, schema_version: 1, data: { ...data, due_at: deadline_at } };
});
const [first] = long_ago;

/** What a release would declare that gave the deadline its name of today. The catalogue of this file is its own. */
const renamed = {
  version: 2,
  upcasts: [({ due_at, ...data }: { due_at: string }) => ({ ...data, deadline_at: due_at })],
};
const deadlineAt = (event: RecordedEvent | undefined): string | undefined =>
  event && readEvent(event, TYPE).deadline_at;

let database: TestDatabase;
let store: PostgresEventStore;
let db: Kysely<unknown>;

beforeAll(async () => {
  Object.assign(definitionOf(TYPE) ?? {}, renamed);
  database = await testDatabase({ migrations: [ORCHESTRATOR_MIGRATIONS, AUDITOR_MIGRATIONS] });
  const options: StorePoolOptions = {
    ...{ url: database.url, role: 'fixpoint_embedded', applicationName: 'fixpoint spec' },
  };
  store = new PostgresEventStore(options);
  db = roleDatabase(options, 4);
  for (const [stream, events] of Map.groupBy(long_ago, (event) => event.stream)) {
    expect(await store.append({ stream, root, expectedVersion: 0, events })).toMatchObject({ outcome: 'appended' });
  }
  await allVisible(store);
});
afterAll(async () => {
  await db.destroy();
  await store.close();
  await database.close();
});

describe('an event of an older schema version', () => {
  const { deadline_at: expected } = (today[0]?.data ?? {}) as { deadline_at: string };

  test('is read from the store as what it would be today, and stays stored as it is', async () => {
    const [read] = await store.readStream(`lineage-${root}`);
    const [onPage] = (await store.readAll({ epoch: 0, xid: '0', position: '0' }, 1)).events;
    for (const event of [read, onPage]) {
      expect(event?.schema_version).toBe(2);
      expect(deadlineAt(event)).toBe(expected);
    }
    const { rows } = await sql<{ data: string; schema_version: number }>`
      select data::text, schema_version from store.event where type = ${TYPE}`.execute(db);
    expect(rows).toMatchObject([{ schema_version: 1, data: expect.stringContaining('"due_at"') }]);
  });

  test('is read from memory the same way', async () => {
    const memory = new MemoryEventStore();
    if (first) await memory.append({ stream: first.stream, root, expectedVersion: 0, events: [first] });
    expect(deadlineAt((await memory.readStream(`lineage-${root}`))[0])).toBe(expected);
  });

  test('B5 is understood in the message of a process of the release before', () => {
    const message = parseMessage(JSON.stringify({ offers: [{ event: first, node_ready: first }] }));
    const offers = message.kind === 'offers' ? message.offers : [];
    expect(offers.map(({ event }) => event.data)).toEqual([today[0]?.data]);
    expect(offers.map(({ nodeReady }) => nodeReady?.schema_version)).toEqual([2]);
  });

  test('is projected as today, also in a rebuild', async () => {
    await new ProjectionRunner({ db, store, projection: readModel, owner: 'spec' }).catchUp();
    const waits = db as unknown as Kysely<WaitTables>;
    await new ProjectionRunner({ db: waits, store, projection: waitRows, owner: 'spec' }).catchUp();
    const { rows } = await sql`select deadline_at from audit.lineage`.execute(db);
    expect(rows).toEqual([{ deadline_at: expected }]);
    expect(await reconcileProjection({ db, store, projection: readModel })).toMatchObject({ differing: 0 });
    expect(await reconcileProjection({ db: waits, store, projection: waitRows })).toMatchObject({ differing: 0 });
  });

  test('folds to the same state', async () => {
    const { events } = await store.readAll({ epoch: 0, xid: '0', position: '0' }, 1_000);
    const [then, now] = [foldedLog(events), foldedLog(today)] as { states: unknown }[];
    expect(then?.states).toEqual(now?.states);
    expect(JSON.stringify(then?.states)).toContain(expected);
  });

  test.each([
    ['of a later version', { schema_version: 3 }],
    ['of a version that never was', { schema_version: 0 }],
    ['without data', { schema_version: 1, data: null }],
  ])('%s is left as it is, for its reader to complain', (_, change) => {
    if (!first) throw new Error('the log is empty');
    const event = { ...first, ...change };
    expect(currentEvent(event)).toBe(event);
    expect(() => readEvent(event, TYPE)).toThrow(/event_version_unknown/);
  });
});
