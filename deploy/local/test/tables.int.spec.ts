import { AUDITOR_MIGRATIONS } from '@fixpoint/auditor/migrations';
import { DECOMPOSER_MIGRATIONS } from '@fixpoint/decomposer/migrations';
import { EXECUTOR_MIGRATIONS } from '@fixpoint/executor/migrations';
import { ORCHESTRATOR_MIGRATIONS } from '@fixpoint/orchestrator/migrations';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { VALIDATOR_MIGRATIONS } from '@fixpoint/validator/migrations';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Client } from 'pg';

jest.setTimeout(180_000);

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await testDatabase({
    migrations: [
      ORCHESTRATOR_MIGRATIONS,
      VALIDATOR_MIGRATIONS,
      EXECUTOR_MIGRATIONS,
      DECOMPOSER_MIGRATIONS,
      AUDITOR_MIGRATIONS,
    ],
  });
  client = new Client({ connectionString: database.url });
  await client.connect();
  // Nothing here has to survive anything.
  await client.query('set synchronous_commit = off');
});
afterAll(async () => {
  await client.end();
  await database.close();
});

/** Few rows or short-lived versions, changed at every append, page or renewal; each with what makes the change. */
const HOT = [
  ['store.checkpoint', `update store.checkpoint set position = position + 1, moved_at = clock_timestamp()`],
  ['store.stream_head', `update store.stream_head set decided_on = version, version = version + 1`],
  ['executor.lease', `update executor.lease set expires_at = clock_timestamp()`],
  ['validator.lease', `update validator.lease set expires_at = clock_timestamp()`],
] as const;

/** Without pruning a round would add more than a hundred pages. */
const CHANGES = 10_000;
/** Somebody else's open transaction, as the specs beside this one have them, holds pruning up for many rounds. */
const ROUNDS = 90;

describe('tables of few rows that change all the time', () => {
  beforeAll(async () => {
    await client.query(`insert into store.checkpoint (name, epoch, xid, position, owner, fence, lease_until)
      values ('spec', 0, '0', 0, 'spec', 1, 'infinity')`);
    await client.query(`insert into store.stream_head values ('spec', 1, 0)`);
    for (const table of ['executor.lease', 'validator.lease'])
      await client.query(`insert into ${table} values ('spec', 'spec', 'spec', clock_timestamp())`);
  });

  test.each(HOT)('P19 %s goes on in the pages that it has, however often it changes', async (table, change) => {
    const grown: number[] = [];
    for (let before = 0; grown.length < ROUNDS && grown.at(-1) !== 0; ) {
      await client.query(`do $$ begin for n in 1..${CHANGES} loop ${change}; commit; end loop; end $$`);
      const { rows } = await client.query(`select pg_relation_size('${table}') as bytes`);
      grown.push(Number(rows[0].bytes) - before);
      before = Number(rows[0].bytes);
    }
    expect(grown.at(-1)).toBe(0);
  });

  test.each(HOT)('P20 %s has no index on what changes, and no trigger', async (table, change) => {
    const { rows } = await client.query(
      `select a.attname as column from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
       where i.indrelid = $1::regclass`,
      [table],
    );
    const changed = [...change.matchAll(/(?:set|,) (\w+) =/g)].map(([, column]) => column);
    expect(changed.length).toBeGreaterThan(0);
    expect(rows.filter(({ column }) => changed.includes(column))).toEqual([]);
    const triggers = await client.query(`select from pg_trigger where tgrelid = $1::regclass and not tgisinternal`, [
      table,
    ]);
    expect(triggers.rowCount).toBe(0);
  });
});

test.each(['store.event', 'audit.event'])(
  'P21 %s is vacuumed as it grows, although nothing in it changes',
  async (table) => {
    const { rows } = await client.query(
      `select option_value::float8 as share from pg_class, pg_options_to_table(reloptions)
     where oid = $1::regclass and option_name = 'autovacuum_vacuum_insert_scale_factor'`,
      [table],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0].share).toBeLessThanOrEqual(0.1);
  },
);

test('P24 a list of events is found without their bodies', async () => {
  const { rows } = await client.query(
    `select attname from pg_attribute where attrelid = 'audit.event'::regclass and attnum > 0 and attname in ('data', 'metadata')`,
  );
  expect(rows).toEqual([]);
});
