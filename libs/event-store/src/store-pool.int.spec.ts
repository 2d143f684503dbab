import { testDatabase } from '@fixpoint/testing/test-database';
import { expect, jest, test } from '@jest/globals';
import { Client } from 'pg';
import { storePool } from './store-pool.ts';

// A busy disk can hold a commit up for seconds.
jest.setTimeout(30_000);

test('a connection lost while somebody holds it fails its next query, and the next one is a new connection', async () => {
  const database = await testDatabase();
  const pool = storePool({ url: database.url, role: 'fixpoint_embedded', applicationName: 'fixpoint spec' }, 1);
  const held = await pool.connect();
  const lost = new Promise((resolve) => held.once('end', resolve));
  const superuser = new Client({ connectionString: database.url });
  await superuser.connect();
  await superuser.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'fixpoint spec'`);
  await lost;
  await expect(held.query('select 1')).rejects.toThrow();
  held.release(true);
  expect((await pool.query('select current_user as role')).rows).toEqual([{ role: 'fixpoint_embedded' }]);
  await Promise.all([pool.end(), superuser.end()]);
  await database.close();
});

test('P04: a session of ours that hangs in a transaction is ended by the server', async () => {
  const database = await testDatabase();
  const options = { url: database.url, role: 'fixpoint_embedded', applicationName: 'fixpoint spec' } as const;
  const pool = storePool({ ...options, statementTimeoutMs: 500 }, 1);
  const held = await pool.connect();
  const ended = new Promise((resolve) => held.once('end', resolve));
  await held.query('begin; select pg_current_xact_id()');
  await ended;
  held.release(true);
  await expect(pool.query('select pg_sleep(10)')).rejects.toThrow('statement timeout');
  await pool.end();
  await database.close();
});
