import { CURSOR_START } from '@fixpoint/contracts/envelope';
import { builtInProtocol, builtInProtocolRef } from '@fixpoint/documents/built-in-protocol';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type AuditDatabase, auditDatabase } from './audit-database.fixture.ts';
import {
  blocked,
  exhausted,
  humanRequired,
  ready,
  repaired,
  runOf,
  spawned,
  submitted,
  telling,
} from './history.fixture.ts';
import { deadLettered, deadLetterReplayed, LETTER } from './letter-history.fixture.ts';
import { HOST, providerFaulted, providerPaused } from './provider-history.fixture.ts';
import { applyToReadModel } from './read-model.ts';
import { emptyReadModel } from './rebuild.fixture.ts';
import type { AuditDb } from './row-table.ts';
import { append } from './store-history.fixture.ts';

let audit: AuditDatabase;
let store: EventStore;
let db: AuditDb;

beforeAll(async () => {
  audit = await auditDatabase();
  ({ store, db } = audit);
  await append(store, history());
});

afterAll(() => audit.close());

/** Every kind of end, texts that Postgres refuses as they are, and a type of a later version. */
const history = () => {
  const { told, tell } = telling();
  repaired('r1', { told, tell });
  const odd = { goal: 'a\0b \ud800', name: 'odd\0', labels: { 'k\0': 'v\ud800' }, project: 'other' };
  tell('lineage-r2', 'r2', submitted('r2', odd));
  tell('lineage-r2', 'r2', ready(runOf('r2', 'r2', 1)));
  tell('lineage-r2', 'r2', { type: 'from_the_future', data: { deep: ['\0'] } });
  tell('lineage-r2', 'r2', blocked('r2', 'r2'));
  tell('lineage-r3', 'r3', submitted('r3'));
  tell('lineage-r3', 'r3', spawned('r3', 1));
  tell('lineage-r3', 'r3', exhausted('r3', ['r3.f1']));
  tell('lineage-r3', 'r3', humanRequired('r3'));
  tell(`dead-${LETTER}`, `dead-${LETTER}`, deadLettered());
  tell(`dead-${LETTER}`, `dead-${LETTER}`, deadLetterReplayed(1));
  for (const step of [providerFaulted(), providerPaused(1, null)]) tell(`provider-${HOST}`, `provider-${HOST}`, step);
  return told;
};

const feed = async (pageSize: number): Promise<void> => {
  let after = CURSOR_START;
  // Another database of the server may hold the watermark back for a moment.
  for (let fed = 0; fed < history().length; ) {
    const page = await store.readAll(after, pageSize);
    await db
      .transaction()
      .execute((transaction) => applyToReadModel({ db: transaction, schema: 'audit' }, page.events));
    after = page.next;
    fed += page.events.length;
  }
};

const TABLES = ['lineage', 'task', 'run', 'dead_letter', 'provider', 'event', 'protocol_mode'];

const contents = async (): Promise<Record<string, unknown[]>> => {
  const tables = await Promise.all(
    TABLES.map(async (name) => {
      const table = sql.table(`audit.${name}`);
      const { rows } = await sql<{ row: string }>`select t::text as row from ${table} t order by 1`.execute(db);
      return [name, rows.map(({ row }) => row)] as const;
    }),
  );
  return Object.fromEntries(tables);
};

describe('read model', () => {
  test('says the same whether its history is fed once, twice, in other pages or from nothing', async () => {
    await feed(1000);
    const once = await contents();
    expect(Object.fromEntries(Object.entries(once).map(([name, rows]) => [name, rows.length]))).toEqual({
      lineage: 3,
      task: 5,
      run: 4,
      dead_letter: 1,
      provider: 1,
      event: history().length,
      protocol_mode: 1,
    });
    await feed(1000);
    expect(await contents()).toEqual(once);
    await emptyReadModel(db);
    expect((await contents()).lineage).toEqual([]);
    await feed(3);
    expect(await contents()).toEqual(once);
  });

  test('E1 shows NUL and lone surrogates by other characters', async () => {
    const { rows } = await sql`select name, goal, labels from audit.lineage where lineage = 'r2'`.execute(db);
    expect(rows).toEqual([{ name: 'odd␀', goal: 'a␀b \ufffd', labels: { 'k␀': 'v\ufffd' } }]);
  });

  test('S-T107 has the project of a lineage on each of its events', async () => {
    const { rows } = await sql`select project, count(*)::int as events from audit.event group by 1 order by 1`.execute(
      db,
    );
    expect(rows).toEqual([
      { project: 'other', events: 4 },
      { project: 'web-shop', events: history().length - 6 },
      { project: null, events: 2 },
    ]);
  });

  test('knows the bounds of the built-in protocol', async () => {
    const { rows } = await sql`select name, version, mode, max_recovery_depth, max_total_fix_attempts
      from audit.protocol_mode where project = ''`.execute(db);
    const { name, version } = builtInProtocolRef;
    const { max_recovery_depth, max_total_fix_attempts } = builtInProtocol.modes.build?.bounds ?? {};
    expect(rows).toEqual([{ name, version, mode: 'build', max_recovery_depth, max_total_fix_attempts }]);
  });

  test('SQL readers see what is left of a bound, times as times, and events as they are stored', async () => {
    const lineages = await sql`select lineage, fix_attempts_left, ended - started as took from audit.lineages
      where lineage = 'r1'`.execute(db);
    expect(lineages.rows).toMatchObject([{ fix_attempts_left: 9, took: { seconds: 21 } }]);
    const events = await sql`select data::text as data from audit.events where type = 'from_the_future'`.execute(db);
    expect(events.rows).toEqual([{ data: '{"deep":["\\u0000"]}' }]);
  });
});
