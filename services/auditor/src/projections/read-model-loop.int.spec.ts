import type { Cursor } from '@fixpoint/contracts/envelope';
import { compareCursors } from '@fixpoint/contracts/envelope';
import { Changes } from '@fixpoint/event-store/changes';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { readModelCursor, shownWithin } from '../reading/freshness.ts';
import { type AuditDatabase, auditDatabase } from './audit-database.fixture.ts';
import { repaired, telling } from './history.fixture.ts';
import { keepReadModel } from './read-model-loop.ts';
import { rebuildReadModel } from './rebuild.fixture.ts';
import { append } from './store-history.fixture.ts';

let audit: AuditDatabase;
let told = 0;

beforeAll(async () => {
  audit = await auditDatabase();
});
afterAll(() => audit.close());

/** A replica of the auditor, without the rest of its process. */
const replica = (owner: string) => {
  const stop = new AbortController();
  const published = new Changes();
  const shown = new Changes();
  const step = keepReadModel({ db: audit.db, store: audit.store, owner, published, shown });
  const ended = (async () => {
    while (!stop.signal.aborted) await step(stop.signal);
  })();
  const end = (): Promise<void> => {
    stop.abort();
    return ended;
  };
  return { end, shown };
};

/** @returns the cursor of its last event. */
const happens = async (root: string): Promise<Cursor> => {
  const { told: story, tell } = telling();
  told += repaired(root, { told: story, tell }).length;
  await append(audit.store, story);
  const [last] = (await audit.store.readStream(`lineage-${root}`)).slice(-1);
  if (!last) throw new Error('nothing was appended');
  return last.cursor;
};

const shown = (cursor: Cursor, changes = new Changes()) =>
  shownWithin({ db: audit.db, clock: systemClock, changes }, cursor, 10_000);

const contents = async () => {
  const table = async (name: string) =>
    (
      await sql<{ row: string }>`select t::text as row from ${sql.table(`audit.${name}`)} t order by 1`.execute(
        audit.db,
      )
    ).rows;
  return Promise.all(['lineage', 'task', 'run', 'event', 'protocol_mode'].map(table));
};

describe('keeping the read model', () => {
  test('several replicas keep it together, and one goes on at once when another stops', async () => {
    const [a, b] = [replica('a'), replica('b')];
    await shown(await happens('k1'));
    const held = await sql<{ owner: string }>`select owner from store.checkpoint`.execute(audit.db);
    const [first, second] = held.rows[0]?.owner === 'a' ? [a, b] : [b, a];
    await first.end();
    const began = performance.now();
    expect(await shown(await happens('k2'))).toBe(true);
    // A lease that was not given back lasts ten seconds.
    expect(performance.now() - began).toBeLessThan(9_000);
    await second.end();
    const [lineages, , , events] = await contents();
    expect([lineages?.length, events?.length]).toEqual([2, told]);
  }, 20_000);

  test('built anew beside running replicas it says the same', async () => {
    const before = await contents();
    const replicas = [replica('c'), replica('d')];
    const cursor = await readModelCursor(audit.db);
    await rebuildReadModel(audit.db);
    expect(await shown(cursor)).toBe(true);
    expect(await contents()).toEqual(before);
    await Promise.all(replicas.map(({ end }) => end()));
  });

  test('a reader that names what is not shown is told so within its time', async () => {
    const cursor = await happens('k3');
    expect(compareCursors(await readModelCursor(audit.db), cursor)).toBeLessThan(0);
    expect(await shownWithin({ db: audit.db, clock: systemClock, changes: new Changes() }, cursor, 120)).toBe(false);
    const one = replica('e');
    expect(await shown(cursor, one.shown)).toBe(true);
    await one.end();
  });
});
